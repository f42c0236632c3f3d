/* harness.c - see harness.h. Reads top to bottom: which device, which kernels and shapes, check, time, report. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrays.h"
#include "device.h"
#include "error.h"
#include "measure.h"
#include "options.h"
#include "own_arrays.h"
#include "table.h"
#ifdef LINREC_SIM
#include "sim/sim.h"
#endif

/* Everything that one run of a program knows. */
struct session {
    const struct linrec_chapter *chapter;
    struct options options;
    struct run run;
    struct cudaDeviceProp device;
    bool on_gpu, on_sim; /* neither: chapter 01, on the CPU */
    int num_checks, num_failed;
    void *flush_buffer;
    size_t flush_bytes;
    struct row *rows;
    size_t num_rows;
};

static const struct linrec_kernel baselines[] = {
    {.name = "copy", .forward = baseline_copy},
    {.name = "add", .forward = baseline_add},
    {.name = "add5", .backward = baseline_add5},
};

/* One line that the next one overwrites; nothing in a log. */
static void progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    va_list values;
    va_start(values, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, values);
    va_end(values);
}

/* ---- the device ---- */

static void read_cpu_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "cpu");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", strchr(line, ':') + 2);
            break;
        }
    if (file != NULL)
        fclose(file);
}

#ifndef LINREC_SIM
/* The driver's own version where Linux shows it, else the CUDA version that it supports. */
static void read_driver(char *text, size_t size)
{
    int version = 0;
    FILE *file = fopen("/sys/module/nvidia/version", "r");
    if (file != NULL && fgets(text, (int)size, file) != NULL)
        text[strcspn(text, "\n")] = '\0';
    else if (cudaDriverGetVersion(&version) == cudaSuccess)
        snprintf(text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (file != NULL)
        fclose(file);
}
#endif

static int open_device(struct session *session)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        error = cudaGetDeviceProperties(&session->device, 0);
    if (error != cudaSuccess || count == 0)
        return usage_error("no GPU answers (%s); build with BACKEND=sim to run without one",
                           error != cudaSuccess ? cudaGetErrorString(error) : "none found");

    if (session->chapter->on_cpu) {
        session->run.backend = "cpu";
        read_cpu_name(session->device.name, sizeof session->device.name);
        snprintf(session->run.toolkit, sizeof session->run.toolkit, "compiler %s", __VERSION__);
        snprintf(session->run.driver, sizeof session->run.driver, "none");
    } else {
#ifdef LINREC_SIM
        session->on_sim = true;
        session->run.backend = "sim";
        snprintf(session->run.toolkit, sizeof session->run.toolkit, "simulator");
        snprintf(session->run.driver, sizeof session->run.driver, "none");
#else
        int version = 0;
        session->on_gpu = true;
        session->run.backend = "cuda";
        cudaRuntimeGetVersion(&version);
        snprintf(session->run.toolkit, sizeof session->run.toolkit, "CUDA %d.%d", version / 1000, version % 1000 / 10);
        read_driver(session->run.driver, sizeof session->run.driver);
#endif
    }
    session->run.device = session->device.name;
    return 0;
}

/* ---- which kernels run what ---- */

static bool is_wanted(const struct session *session, const struct linrec_kernel *kernel)
{
    return session->options.variant == NULL || strcmp(session->options.variant, kernel->name) == 0;
}

static bool offers(const struct linrec_kernel *kernel, bool backward, bool reverse)
{
    return (backward ? kernel->backward : kernel->forward) != NULL && (!reverse || kernel->reverse);
}

static void print_list(const struct linrec_chapter *chapter)
{
    for (const struct linrec_kernel *kernel = chapter->kernels; kernel->name != NULL; kernel++) {
        printf("%-14s %s%s", kernel->name, kernel->idea, kernel->is_default ? " (default)" : "");
        if (kernel->partial)
            printf(" (partial: timed, not checked)");
        if (kernel->max_seq_len != 0)
            printf(" (length up to %zu)", kernel->max_seq_len);
        if (kernel->min_arch != 0)
            printf(" (needs sm_%d)", kernel->min_arch);
        printf("\n");
    }
}

/* Writes why the kernel cannot run here, on this shape. Returns false if it can. */
static bool cannot_run(const struct session *session, const struct linrec_kernel *kernel, size_t num_seqs,
                       size_t seq_len, char *why, size_t size)
{
    const int chip = session->device.major * 10 + session->device.minor, arch = chip < LINREC_ARCH ? chip : LINREC_ARCH;
    if (kernel->min_arch > arch && !session->chapter->on_cpu)
        snprintf(why, size, "%s needs sm_%d, this is compiled for sm_%d and the device is sm_%d", kernel->name,
                 kernel->min_arch, arch, chip);
    else if (kernel->max_seq_len != 0 && seq_len > kernel->max_seq_len)
        snprintf(why, size, "%s takes sequences of up to %zu elements, not %zu", kernel->name, kernel->max_seq_len,
                 seq_len);
    else if (kernel->max_num_seqs != 0 && num_seqs > kernel->max_num_seqs)
        snprintf(why, size, "%s takes up to %zu sequences, not %zu", kernel->name, kernel->max_num_seqs, num_seqs);
    else
        return false;
    return true;
}

/* Checks what was asked for against the table: the variant, the direction, the limits. Returns 0, or 2 after one line.
 */
static int check_request(const struct session *session, bool directions[2][2], size_t num_seqs, const size_t *seq_lens,
                         int num_seq_lens)
{
    const struct options *options = &session->options;
    const bool narrowed = options->forward || options->reverse || options->backward || options->arrays;
    const bool backward = options->backward || options->d_outputs != NULL;
    bool known = false, runs = false;
    char why[256] = "";

    memset(directions, 0, 4 * sizeof(bool));
    for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++) {
        if (!is_wanted(session, kernel))
            continue;
        known = true;
        for (int b = 0; b < 2; b++)
            for (int r = 0; r < 2; r++)
                if (offers(kernel, b, r) && (!narrowed || (b == backward && r == options->reverse)))
                    directions[b][r] = runs = true;
    }
    if (!known)
        return usage_error("there is no variant \"%s\"; --list names them", options->variant);
    if (!runs)
        return usage_error("%s%s%s does not run %s; leave the option out, or see the chapters in README.md",
                           session->chapter->name, options->variant != NULL ? ", variant " : "",
                           options->variant != NULL ? options->variant : "",
                           direction_name(backward, options->reverse));

    /* a named variant must be able to run here, */
    for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++)
        if (options->variant != NULL && is_wanted(session, kernel) &&
            cannot_run(session, kernel, num_seqs, 0, why, sizeof why))
            return usage_error("%s; choose another variant", why);

    /* and every named shape must be within the limits of some variant, or of the named one */
    for (int i = 0; i < num_seq_lens; i++) {
        bool fits = false;
        for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++)
            if (is_wanted(session, kernel) && !cannot_run(session, kernel, num_seqs, seq_lens[i], why, sizeof why))
                fits = true;
        if (!fits)
            return usage_error("%s; choose another shape or variant", why);
    }
    return 0;
}

/* ---- check and time ---- */

/* Whether a shape's arrays fit into the memory, with what a kernel wants as workspace and a margin. Where the device is
   the host, a check copies all arrays once more. */
static bool fits_memory(const struct session *session, size_t num_seqs, size_t seq_len, bool backward, size_t *needed,
                        size_t *available)
{
    const struct linrec_args sizes = {.num_seqs = num_seqs, .seq_len = seq_len};
    const size_t bytes = arrays_bytes(num_seqs, seq_len, backward), margin = (size_t)128 << 20;
    size_t total, workspace = 0;
    *available = 0;
    cudaMemGetInfo(available, &total);
    *needed = bytes;
    if (bytes > SIZE_MAX / 8)
        return false;
    for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++)
        if (is_wanted(session, kernel) && kernel->workspace_size != NULL && kernel->workspace_size(&sizes) > workspace)
            workspace = kernel->workspace_size(&sizes);
    *needed = (session->on_gpu ? bytes : 2 * bytes) + workspace + margin;
    if (session->flush_buffer == NULL)
        *needed += session->flush_bytes;
    return *needed <= *available;
}

/* Very long rows get a zero coefficient every 65537 elements (a prime, so that it meets no tile's edge twice), so that
   one thread need not walk the whole row to check it. */
static size_t window_of(size_t seq_len)
{
    return seq_len > (size_t)1 << 24 ? 65537 : 0;
}

/* Checks every wanted kernel on every kind of data that fits the shape. errors[k]: the largest error of kernel k. Large
   shapes are checked on the two kinds that find the most: forgetting and long memory. */
static void check_shape(struct session *session, struct arrays *arrays, bool reverse, double *errors)
{
    const size_t length = arrays->args.seq_len, count = arrays->args.num_seqs * length;
    const size_t large = session->on_gpu ? (size_t)1 << 28 : (size_t)1 << 20;
    const char *direction = direction_name(arrays->backward, reverse);
    const struct linrec_kernel *kernels = session->chapter->kernels;
    char why[256];

    for (int kind = 0; kind < DATA_NUM_KINDS; kind++) {
        const struct data_spec spec = {session->options.seed, (enum data_kind)kind, length, reverse, window_of(length)};
        if (!data_kind_fits(&spec, spec.kind) || (count > large && kind != DATA_UNIFORM && kind != DATA_NEAR_ONE))
            continue;
        cudaError_t error = arrays_fill(arrays, &spec);
        for (int k = 0; kernels[k].name != NULL; k++) {
            struct check check;
            if (!is_wanted(session, &kernels[k]) || !offers(&kernels[k], arrays->backward, reverse) ||
                kernels[k].partial || cannot_run(session, &kernels[k], arrays->args.num_seqs, length, why, sizeof why))
                continue;
            progress("checking %s %s, %zu x %zu, %s", kernels[k].name, direction, arrays->args.num_seqs, length,
                     data_kind_name(spec.kind));
            session->num_checks++;
            if (error == cudaSuccess) {
                arrays_check(arrays, &kernels[k], &spec, session->on_gpu, &check);
            } else {
                snprintf(check.text, sizeof check.text, "the test data could not be written: %s",
                         cudaGetErrorString(error));
                check.max_error = INFINITY;
            }
            errors[k] = fmax(errors[k], check.max_error);
            if (check.text[0] != '\0') {
                session->num_failed++;
                progress("");
                fprintf(stderr, "FAILED %s %s, %zu x %zu, %s coefficients: %s\n", kernels[k].name, direction,
                        arrays->args.num_seqs, length, data_kind_name(spec.kind), check.text);
            }
        }
    }
}

/* Times one kernel, or counts what it does on the simulator, into *row. A launch that fails is a failed check. */
static void time_kernel(struct session *session, struct arrays *arrays, const struct linrec_kernel *kernel,
                        struct row *row)
{
    const int repeats = session->options.repeats != 0 ? session->options.repeats : session->on_gpu ? 25 : 7;
    const bool backward = arrays->backward && kernel->backward != NULL;
    cudaError_t error = cudaSuccess;
    progress("timing %s %s, %zu x %zu", kernel->name, row->direction, row->num_seqs, row->seq_len);
    if (session->on_sim) {
#ifdef LINREC_SIM
        sim_reset_counts();
        error = arrays_launch(arrays, kernel, backward);
        const struct sim_counts counts = sim_get_counts();
        row->counted = true;
        row->blocks = counts.blocks;
        row->threads = counts.threads;
        row->barriers = counts.barriers;
        row->shuffles = counts.shuffles;
        char label[256];
        snprintf(label, sizeof label, "%s,%s,%s,%zu,%zu", row->chapter, row->variant, row->direction, row->num_seqs,
                 row->seq_len);
        sim_trace(label);
#endif
    } else {
        error = measure(arrays, kernel, backward, repeats, session->flush_buffer, session->flush_bytes, &row->timing);
        row->timed = error == cudaSuccess;
    }
    if (error != cudaSuccess) {
        session->num_failed++;
        fprintf(stderr, "FAILED %s %s, %zu x %zu: the launch failed: %s\n", kernel->name, row->direction, row->num_seqs,
                row->seq_len, cudaGetErrorString(error));
    }
}

static void add_row(struct session *session, const struct row *row)
{
    struct row *rows = realloc(session->rows, (session->num_rows + 1) * sizeof *rows);
    if (rows == NULL) {
        fprintf(stderr, "%s: out of memory\n", session->chapter->name);
        exit(1);
    }
    session->rows = rows;
    rows[session->num_rows++] = *row;
    progress("");
    table_print_row(&session->run, row);
}

/* The yardsticks of one shape and direction. They read the same arrays as the kernels, so backward they come with add5.
 */
static void time_baselines(struct session *session, struct arrays *arrays, bool reverse, double *copy, double *sum)
{
    static const double bytes_per_element[] = {8, 12, 20};
    struct arrays view = *arrays;
    *copy = *sum = 0.0;
    if (session->on_sim)
        return;
    if (arrays->backward) /* copy reads inputs and writes outputs; add5 is the pass's own */
        view.args.inputs = arrays->args.d_outputs;
    for (int i = 0; i < 3; i++) {
        if ((i == 1 && arrays->backward) || (i == 2 && !arrays->backward))
            continue;
        if (i == 0 && arrays->backward) /* `outputs` is read in this pass: copy to what is written */
            view.args.outputs = arrays->args.d_inputs;
        else
            view.args.outputs = arrays->args.outputs;
        struct row row = {.chapter = "07_bench",
                          .variant = baselines[i].name,
                          .direction = direction_name(arrays->backward, reverse),
                          .num_seqs = arrays->args.num_seqs,
                          .seq_len = arrays->args.seq_len};
        row.bytes = bytes_per_element[i] * (double)row.num_seqs * (double)row.seq_len;
        time_kernel(session, &view, &baselines[i], &row);
        if (i == 0)
            *copy = row_gb_per_s(&row);
        else
            *sum = row_gb_per_s(&row);
        row.copy_gb_per_s = *copy;
        row.add_gb_per_s = *sum;
        add_row(session, &row);
    }
}

/* One direction, one shape: check all, then time all. */
static void run_shape(struct session *session, bool backward, bool reverse, size_t num_seqs, size_t seq_len)
{
    const struct linrec_kernel *kernels = session->chapter->kernels;
    struct arrays arrays;
    size_t needed, available;
    char why[256];
    int num_kernels = 0;

    const bool fits = fits_memory(session, num_seqs, seq_len, backward, &needed, &available);
    if (!fits || arrays_create(&arrays, num_seqs, seq_len, backward) != cudaSuccess) {
        fprintf(stderr, "skipped %s of %zu x %zu: it needs %.3g GB, the device has %.3g GB free\n",
                direction_name(backward, reverse), num_seqs, seq_len, (double)needed * 1e-9, (double)available * 1e-9);
        session->num_failed += fits; /* there was room, and yet no memory */
        return;
    }
    while (kernels[num_kernels].name != NULL)
        num_kernels++;
    double *errors = calloc((size_t)num_kernels + 1, sizeof *errors);
    if (errors == NULL)
        exit(1);
    check_shape(session, &arrays, reverse, errors);

    /* the workload that is timed: uniform coefficients */
    const bool timing = !session->options.check_only && num_seqs * seq_len != 0;
    const struct data_spec spec = {session->options.seed, DATA_UNIFORM, seq_len, reverse, window_of(seq_len)};
    double copy = 0.0, sum = 0.0;
    const bool filled = timing && arrays_fill(&arrays, &spec) == cudaSuccess;
    if (filled)
        time_baselines(session, &arrays, reverse, &copy, &sum);
    session->num_failed += timing && !filled;
    for (int k = 0; k < num_kernels; k++) {
        if (!is_wanted(session, &kernels[k]) || !offers(&kernels[k], backward, reverse))
            continue;
        if (cannot_run(session, &kernels[k], num_seqs, seq_len, why, sizeof why)) {
            fprintf(stderr, "skipped: %s\n", why);
            continue;
        }
        struct row row = {.chapter = session->chapter->name,
                          .variant = kernels[k].name,
                          .direction = direction_name(backward, reverse),
                          .num_seqs = num_seqs,
                          .seq_len = seq_len,
                          .bytes = (backward ? 20.0 : 12.0) * (double)num_seqs * (double)seq_len,
                          .copy_gb_per_s = copy,
                          .add_gb_per_s = sum,
                          .checked = !kernels[k].partial,
                          .max_error = errors[k]};
        if (filled && errors[k] <= 1.0) /* a wrong result has no speed */
            time_kernel(session, &arrays, &kernels[k], &row);
        add_row(session, &row);
    }
    free(errors);
    arrays_free(&arrays);
}

static int check_and_time(struct session *session)
{
    struct options *options = &session->options;
    const bool on_sim = session->on_sim;
    size_t lengths[MAX_LENGTHS];
    int num_lengths = 0;
    bool directions[2][2];

    const size_t num_seqs = options->num_seqs_given ? options->num_seqs
                            : session->on_gpu       ? 100 * (size_t)session->device.multiProcessorCount
                            : on_sim                ? 4
                                                    : 64;
    for (int i = 0; i < options->num_seq_lens; i++)
        lengths[num_lengths++] = options->seq_lens[i];
    if (num_lengths == 0) {
        for (size_t length = 16; length <= (on_sim ? 4096 : 65536); length *= 2)
            lengths[num_lengths++] = length;
        if (on_sim)
            lengths[num_lengths++] = 1001; /* rows that start at any multiple of 4 bytes */
    }
    int status = check_request(session, directions, num_seqs, lengths, options->num_seq_lens);
    if (status == 0 && options->csv != NULL)
        status = output_probe(options->csv);
    if (status != 0)
        return status;
    if (!on_sim && !options->check_only)
        session->flush_bytes = session->on_gpu ? 2 * (size_t)session->device.l2CacheSize : (size_t)64 << 20;

    /* a named length that does not fit is an error, and said at once; of the default ones some may be left out */
    bool any_fits = false;
    for (int i = 0; i < num_lengths; i++) {
        const bool backward = directions[true][false] || directions[true][true];
        size_t needed, available;
        const bool fits = fits_memory(session, num_seqs, lengths[i], backward, &needed, &available);
        any_fits = any_fits || fits;
        if (!fits && (options->num_seq_lens != 0 || (i == num_lengths - 1 && !any_fits)))
            return usage_error(
                "%zu sequences of %zu elements need %.3g GB, the device has %.3g GB free; choose a smaller shape",
                num_seqs, lengths[i], (double)needed * 1e-9, (double)available * 1e-9);
    }
    if (session->flush_bytes != 0 && (cudaMalloc(&session->flush_buffer, session->flush_bytes) != cudaSuccess ||
                                      cudaMemset(session->flush_buffer, 0, session->flush_bytes) != cudaSuccess))
        return usage_error("not enough memory for the %zu bytes that flush the cache", session->flush_bytes);
    printf("%s on %s (%s, %s), seed %llu\n\n", session->chapter->name, session->run.device, session->run.backend,
           session->run.toolkit, (unsigned long long)options->seed);
    table_print_head(&session->run);
    for (int backward = 0; backward < 2; backward++)
        for (int reverse = 0; reverse < 2; reverse++)
            for (int i = 0; i < num_lengths && directions[backward][reverse]; i++)
                run_shape(session, backward, reverse, num_seqs, lengths[i]);
    if (session->flush_buffer != NULL)
        cudaFree(session->flush_buffer);

    if (options->csv != NULL)
        status = table_write_csv(options->csv, &session->run, session->rows, session->num_rows);
    free(session->rows);
    if (on_sim)
        printf("\nThe simulator checks results and counts what one launch does; it says nothing about time.\n");
    if (session->num_failed != 0) {
        printf("\n%d FAILED\n", session->num_failed);
        return 1;
    }
    if (session->num_checks == 0)
        printf("\nnothing was checked\n");
    else
        printf("\nall %d checks passed\n", session->num_checks);
    return status;
}

/* ---- the reader's own arrays ---- */

static int run_own_arrays(struct session *session)
{
    const struct linrec_kernel *kernel = NULL;
    struct own_arrays own;
    bool directions[2][2];
    size_t needed, available;
    char why[256];
    int status = check_request(session, directions, 0, NULL, 0);

    if (status == 0)
        status = own_arrays_read(&own, &session->options);
    if (status != 0)
        return status;
    const bool backward = own.backward, reverse = session->options.reverse;
    for (const struct linrec_kernel *k = session->chapter->kernels; k->name != NULL; k++)
        if (session->options.variant != NULL ? is_wanted(session, k) : k->is_default)
            kernel = k;
    if (kernel->partial)
        status = usage_error("%s computes only part of the result; choose another variant, see --list", kernel->name);
    else if (!offers(kernel, backward, reverse))
        status =
            usage_error("%s does not run %s; choose another variant", kernel->name, direction_name(backward, reverse));
    else if (cannot_run(session, kernel, own.shape.num_seqs, own.shape.seq_len, why, sizeof why))
        status = usage_error("%s; choose another variant", why);
    else if (!fits_memory(session, own.shape.num_seqs, own.shape.seq_len, backward, &needed, &available))
        status = usage_error("the arrays need %.3g GB, the device has %.3g GB free", (double)needed * 1e-9,
                             (double)available * 1e-9);
    if (status == 0)
        status = own_arrays_run(&own, kernel, reverse);
    if (status == 0)
        printf("%s: %zu x %zu, %s, variant %s on %s\n", session->chapter->name, own.shape.num_seqs, own.shape.seq_len,
               direction_name(backward, reverse), kernel->name, session->run.device);
    own_arrays_free(&own);
    return status;
}

int harness_main(int argc, char **argv, const struct linrec_chapter *chapter)
{
    struct session session = {.chapter = chapter, .run = {.argc = argc, .argv = argv}};
    output_watch_stdout();
    int status = options_read(argc, argv, chapter, &session.options);
    if (status >= 0)
        return status;
    if (session.options.list) {
        print_list(chapter);
        return 0;
    }
    if ((status = open_device(&session)) != 0)
        return status;
    return session.options.arrays ? run_own_arrays(&session) : check_and_time(&session);
}
