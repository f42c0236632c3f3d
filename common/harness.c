/* harness.c - see harness.h. Reads top to bottom: which device, which kernels and shapes, check, time, report. */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "about.h"
#include "array_files.h"
#include "arrays.h"
#include "contract.h"
#include "device.h"
#include "error.h"
#include "knobs.h"
#include "measure.h"
#include "options.h"
#include "own_arrays.h"
#include "resume.h"
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
    char shape[KNOBS_TEXT]; /* what --config gave, as the table shows it */
    void *flush_buffer;
    size_t flush_bytes;
    struct row *rows;
    size_t num_rows;
    struct resume resume;
    bool *said;                 /* of each kernel: why it skips shapes */
    bool *refused;              /* of each kernel: it does not run in --config's shape at the present sizes */
    int status;                 /* 2: none did, and it was said */
    double work_done, all_work; /* for the time left; the unit does not matter */
    struct timespec begin;
};

static const struct linrec_kernel baselines[] = {
    {.name = "copy", .forward = baseline_copy},
    {.name = "add", .forward = baseline_add},
    {.name = "add5", .backward = baseline_add5},
};

static char time_left[64]; /* what a comparison puts in front */

/* One line that the next one overwrites; nothing in a log. */
static void progress(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    va_list values;
    va_start(values, format);
    fputs("\r\033[K", stderr);
    if (*format != '\0')
        fputs(time_left, stderr);
    vfprintf(stderr, format, values);
    va_end(values);
}

/* Counts a failure, and prints the first three: one wrong term may fail hundreds of checks. */
__attribute__((format(printf, 2, 3))) static void failed(struct session *session, const char *format, ...)
{
    va_list values;
    if (++session->num_failed > 3)
        return;
    progress("");
    fputs("FAILED ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
}

/* ---- the device ---- */

static int open_device(struct session *session)
{
    const int status = about_device(session->chapter->on_cpu, &session->run, &session->device);
    session->on_sim = status == 0 && strcmp(session->run.backend, "sim") == 0;
    session->on_gpu = status == 0 && strcmp(session->run.backend, "cuda") == 0;
    session->run.compares = session->chapter->compares;
    return status;
}

/* ---- which kernels run what ---- */

static bool is_named(const struct session *session, const struct linrec_kernel *kernel)
{
    return session->options.variant == NULL || strcmp(session->options.variant, kernel->name) == 0;
}

static bool is_wanted(const struct session *session, const struct linrec_kernel *kernel)
{
    return is_named(session, kernel) && knobs_take(kernel, &session->options.config);
}

static bool offers(const struct linrec_kernel *kernel, bool backward, bool reverse)
{
    return (backward ? kernel->backward : kernel->forward) != NULL && (!reverse || kernel->reverse);
}

/* The row's first two columns. In a comparison a kernel is named "chapter/variant". */
static const char *chapter_of(const struct session *session, const struct linrec_kernel *kernel)
{
    return kernel->chapter != NULL ? kernel->chapter : session->chapter->name;
}

static const char *variant_of(const struct linrec_kernel *kernel)
{
    const char *slash = strrchr(kernel->name, '/');
    return slash != NULL ? slash + 1 : kernel->name;
}

static void print_list(const struct linrec_chapter *chapter)
{
    char knobs[KNOBS_TEXT];
    for (const struct linrec_kernel *kernel = chapter->kernels; kernel->name != NULL; kernel++) {
        printf("%-*s %s%s", chapter->compares ? 27 : 14, kernel->name, kernel->idea,
               kernel->is_default ? " (default)" : "");
        if (kernel->partial)
            printf(" (partial: timed, not checked)");
        if (kernel->max_seq_len != 0)
            printf(" (length up to %zu)", kernel->max_seq_len);
        if (kernel->min_arch != 0)
            printf(" (needs sm_%d)", kernel->min_arch);
        if (*knobs_list(kernel, knobs) != '\0')
            printf(" (%s)", knobs);
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
    else if (kernel->max_elems != 0 && num_seqs != 0 && seq_len > kernel->max_elems / num_seqs)
        snprintf(why, size, "%s takes up to %zu elements, not %zu times %zu", kernel->name, kernel->max_elems, num_seqs,
                 seq_len);
    else
        return false;
    return true;
}

/* One line for a kernel that does not take --config's shape. Returns 2. */
static int refuse_config(const struct session *session, const struct linrec_kernel *kernel)
{
    char given[KNOBS_TEXT], takes[KNOBS_TEXT];
    knobs_shape(&session->options.config, ',', given);
    if (*knobs_list(kernel, takes) == '\0')
        return usage_error("%s leaves no choice of rows, threads or stages; choose a variant that does, see --list",
                           kernel->name);
    return usage_error("%s takes %s; it does not take %s", kernel->name, takes, given + 1);
}

/* Checks what was asked for against the table: the variant, its shape, the direction, the limits. Returns 0, or 2 after
 * one line.
 */
static int check_request(const struct session *session, bool directions[2][2], size_t num_seqs, const size_t *seq_lens,
                         int num_seq_lens)
{
    const struct options *options = &session->options;
    const bool narrowed = options->forward || options->reverse || options->backward || options->arrays;
    const bool backward = options->backward || options->d_outputs != NULL;
    bool runs = false;
    char why[256] = "", given[KNOBS_TEXT];
    const struct linrec_kernel *named = NULL;
    int num_wanted = 0;

    memset(directions, 0, 4 * sizeof(bool));
    for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++) {
        if (is_named(session, kernel))
            named = kernel;
        if (!is_wanted(session, kernel))
            continue;
        num_wanted++;
        for (int b = 0; b < 2; b++)
            for (int r = 0; r < 2; r++)
                if (offers(kernel, b, r) && (!narrowed || (b == backward && r == options->reverse)))
                    directions[b][r] = runs = true;
    }
    if (named == NULL)
        return usage_error("there is no variant \"%s\"; --list names them", options->variant);
    if (num_wanted == 0 && options->variant != NULL)
        return refuse_config(session, named);
    if (num_wanted == 0)
        return usage_error("no variant takes %s; --list shows what each takes",
                           knobs_shape(&options->config, ',', given) + 1);
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
    const struct linrec_args sizes = {.num_seqs = num_seqs, .seq_len = seq_len, .config = session->options.config};
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

/* A launcher may refuse a combination of what its knobs allow one by one: many threads with many stages, for want of
   shared memory. Such kernels are left out, which is an error if no other takes the shape. */
static void try_config(struct session *session, struct arrays *arrays, bool reverse)
{
    const struct linrec_config *config = &session->options.config;
    const struct linrec_kernel *kernels = session->chapter->kernels;
    const struct data_spec spec = {session->options.seed, DATA_UNIFORM, arrays->args.seq_len, reverse, 0, arrays->backward};
    int num_taken = 0, num_refused = 0;
    char given[KNOBS_TEXT], why[256];

    if (!knobs_given(config) || arrays_fill(arrays, &spec) != cudaSuccess)
        return;
    knobs_shape(config, ',', given);
    for (int k = 0; kernels[k].name != NULL; k++) {
        if (!is_wanted(session, &kernels[k]) || !offers(&kernels[k], arrays->backward, reverse) ||
            cannot_run(session, &kernels[k], arrays->args.num_seqs, arrays->args.seq_len, why, sizeof why))
            continue;
        const cudaError_t error = arrays_launch(arrays, &kernels[k], arrays->backward);
        session->refused[k] = knobs_refused(config, error);
        num_refused += session->refused[k];
        num_taken += !session->refused[k];
        if (session->refused[k] && session->options.variant == NULL && !session->said[k])
            fprintf(stderr, "skipped: %s does not run with %s here (%s)\n", kernels[k].name, given + 1,
                    cudaGetErrorString(error));
        session->said[k] = session->said[k] || session->refused[k];
    }
    if (num_refused != 0 && num_taken == 0) {
        const char *variant = session->options.variant;
        session->status =
            usage_error("%s %s with %s here, for example for want of shared memory; choose smaller numbers",
                        variant != NULL ? variant : "no variant", variant != NULL ? "does not run" : "runs", given + 1);
    }
}

/* Checks what the launchers of the wanted kernels promise. */
static void check_contracts(struct session *session)
{
    char why[256], text[512];
    for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++)
        for (int backward = 0; backward < 2; backward++) {
            if (!is_wanted(session, kernel) || !offers(kernel, backward, false) ||
                cannot_run(session, kernel, 0, 0, why, sizeof why))
                continue;
            session->num_checks++;
            contract_check(kernel, backward, session->chapter->on_cpu, text, sizeof text);
            if (text[0] != '\0')
                failed(session, "%s %s: %s", kernel->name, direction_name(backward, false), text);
        }
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
        const struct data_spec spec = {session->options.seed, (enum data_kind)kind, length, reverse, window_of(length),
                                       arrays->backward};
        if (!data_kind_fits(&spec, spec.kind) || (count > large && kind != DATA_UNIFORM && kind != DATA_NEAR_ONE))
            continue;
        cudaError_t error = arrays_fill(arrays, &spec);
        for (int k = 0; kernels[k].name != NULL; k++) {
            struct check check;
            if (kernels[k].chapter != NULL && kind != DATA_NEAR_ONE) /* its own program checks the other kinds */
                continue;
            if (!is_wanted(session, &kernels[k]) || !offers(&kernels[k], arrays->backward, reverse) ||
                kernels[k].partial || session->refused[k] ||
                cannot_run(session, &kernels[k], arrays->args.num_seqs, length, why, sizeof why))
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
            if (check.text[0] != '\0')
                failed(session, "%s %s, %zu x %zu, %s coefficients: %s", kernels[k].name, direction,
                       arrays->args.num_seqs, length, data_kind_name(spec.kind), check.text);
        }
    }
}

/* Times one kernel, or counts what it does on the simulator, into *row. A launch that fails is a failed check. */
static void time_kernel(struct session *session, struct arrays *arrays, const struct linrec_kernel *kernel,
                        struct row *row)
{
    const bool is_short = row->num_seqs * row->seq_len < (size_t)1 << 25; /* and scatters */
    int repeats = session->options.repeats != 0 ? session->options.repeats : !session->on_gpu ? 7 : is_short ? 101 : 25;
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
        snprintf(label, sizeof label, "%s,%s%s,%s,%zu,%zu", row->chapter, row->variant,
                 row->shape != NULL ? row->shape : "", row->direction, row->num_seqs, row->seq_len);
        sim_trace(label);
#endif
    } else {
        if (session->chapter->compares && repeats > 5) /* slow ones: as many as fit into 0.2 s, 5 at least */
            error = measure(arrays, kernel, backward, 1, session->flush_buffer, session->flush_bytes, &row->timing);
        if (session->chapter->compares && repeats > 5 && error == cudaSuccess)
            repeats = (int)fmin(repeats, fmax(5.0, 200.0 / row->timing.median_ms));
        if (error == cudaSuccess)
            error =
                measure(arrays, kernel, backward, repeats, session->flush_buffer, session->flush_bytes, &row->timing);
        row->timed = error == cudaSuccess;
    }
    if (error != cudaSuccess)
        failed(session, "%s %s, %zu x %zu: the launch failed: %s", kernel->name, row->direction, row->num_seqs,
               row->seq_len, cudaGetErrorString(error));
}

static void keep_row(struct session *session, const struct row *row)
{
    struct row *rows = realloc(session->rows, (session->num_rows + 1) * sizeof *rows);
    if (rows == NULL) {
        fprintf(stderr, "%s: out of memory\n", session->chapter->name);
        exit(1);
    }
    session->rows = rows;
    rows[session->num_rows++] = *row;
}

static void add_row(struct session *session, const struct row *row)
{
    keep_row(session, row);
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

/* Takes over the rows of this shape that an interrupted run has left. Returns false if one is missing; then none. */
static bool keep_recorded(struct session *session, bool backward, bool reverse, size_t num_seqs, size_t seq_len)
{
    const char *direction = direction_name(backward, reverse);
    const size_t before = session->num_rows;
    size_t missing = session->on_sim ? 0 : 2; /* the yardsticks */
    char why[256];

    if (session->resume.num_rows == 0)
        return false;
    for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++)
        missing += is_wanted(session, kernel) && offers(kernel, backward, reverse) &&
                   !cannot_run(session, kernel, num_seqs, seq_len, why, sizeof why);
    for (size_t i = 0; i < session->resume.num_rows; i++) {
        const struct row *row = &session->resume.rows[i];
        if (strcmp(row->direction, direction) == 0 && row->num_seqs == num_seqs && row->seq_len == seq_len) {
            keep_row(session, row);
            missing--;
        }
    }
    if (missing != 0)
        session->num_rows = before;
    return missing == 0;
}

/* What a shape costs, roughly and in milliseconds: a launch, the check by few threads, the bytes. */
static double work_of(const struct session *session, bool backward, bool reverse, size_t num_seqs, size_t seq_len)
{
    const double count = (double)num_seqs * (double)seq_len;
    int kernels = 0;
    for (const struct linrec_kernel *kernel = session->chapter->kernels; kernel->name != NULL; kernel++)
        kernels += is_wanted(session, kernel) && offers(kernel, backward, reverse);
    return kernels * (5.0 + 1e-3 * (double)seq_len + 1e-5 * fmin(count, 1e6) + 2e-7 * count);
}

/* Counts a shape as done. `ran`: it took its time, so that it says how long the others will take. */
static void tell_time_left(struct session *session, double work, bool ran)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!ran) {
        session->all_work -= work;
        return;
    }
    session->work_done += work;
    const double seconds =
        difftime(now.tv_sec, session->begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - session->begin.tv_nsec);
    const double left = seconds * (session->all_work / session->work_done - 1.0);
    if (session->chapter->compares)
        snprintf(time_left, sizeof time_left, "[%3.0f %%, about %d min %02d s left] ",
                 100.0 * session->work_done / session->all_work, (int)(left / 60.0), (int)fmod(left, 60.0));
}

/* One direction, one shape: check all, then time all. Returns false if there was nothing to do. */
static bool run_shape(struct session *session, bool backward, bool reverse, size_t num_seqs, size_t seq_len)
{
    const struct linrec_kernel *kernels = session->chapter->kernels;
    struct arrays arrays;
    size_t needed, available;
    char why[256];
    int num_kernels = 0;

    if (keep_recorded(session, backward, reverse, num_seqs, seq_len))
        return false;
    const bool fits = fits_memory(session, num_seqs, seq_len, backward, &needed, &available);
    if (!fits || arrays_create(&arrays, num_seqs, seq_len, backward) != cudaSuccess) {
        fprintf(stderr, "skipped %s of %zu x %zu: it needs %.3g GB, the device has %.3g GB free\n",
                direction_name(backward, reverse), num_seqs, seq_len, (double)needed * 1e-9, (double)available * 1e-9);
        if (fits) /* there was room, and yet no memory */
            failed(session, "%s of %zu x %zu: no memory", direction_name(backward, reverse), num_seqs, seq_len);
        return false;
    }
    while (kernels[num_kernels].name != NULL)
        num_kernels++;
    double *errors = calloc((size_t)num_kernels + 1, sizeof *errors);
    if (session->said == NULL) {
        session->said = calloc((size_t)num_kernels + 1, sizeof *session->said);
        session->refused = calloc((size_t)num_kernels + 1, sizeof *session->refused);
    }
    if (errors == NULL || session->said == NULL || session->refused == NULL) {
        fprintf(stderr, "%s: out of memory\n", session->chapter->name);
        exit(1);
    }
    arrays.args.config = session->options.config;
    try_config(session, &arrays, reverse);
    if (session->status != 0) {
        free(errors);
        arrays_free(&arrays);
        return false;
    }
    check_shape(session, &arrays, reverse, errors);

    /* the workload that is timed: uniform coefficients */
    const bool timing = !session->options.check_only && num_seqs * seq_len != 0;
    const struct data_spec spec = {session->options.seed, DATA_UNIFORM, seq_len, reverse, window_of(seq_len),
                                   arrays.backward};
    const double count = (double)num_seqs * (double)seq_len;
    double copy = 0.0, sum = 0.0;
    const bool filled = timing && arrays_fill(&arrays, &spec) == cudaSuccess;
    if (filled)
        time_baselines(session, &arrays, reverse, &copy, &sum);
    if (timing && !filled)
        failed(session, "%s of %zu x %zu: the test data could not be written", direction_name(backward, reverse),
               num_seqs, seq_len);
    for (int k = 0; k < num_kernels; k++) {
        if (!is_wanted(session, &kernels[k]) || !offers(&kernels[k], backward, reverse))
            continue;
        if (cannot_run(session, &kernels[k], num_seqs, seq_len, why, sizeof why)) {
            if (!session->said[k]) /* once is enough */
                fprintf(stderr, "skipped: %s\n", why);
            session->said[k] = true;
            continue;
        }
        if (session->refused[k]) /* and said so */
            continue;
        struct row row = {.chapter = chapter_of(session, &kernels[k]),
                          .variant = variant_of(&kernels[k]),
                          .shape = session->shape,
                          .direction = direction_name(backward, reverse),
                          .num_seqs = num_seqs,
                          .seq_len = seq_len,
                          .bytes = kernels[k].moves_nothing ? 0.0 : (backward ? 20.0 : 12.0) * count,
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
    return true;
}

/* All directions and shapes. With --resume the CSV is written after each of them. Returns 0, or 2 after one line. */
static int run_shapes(struct session *session, bool directions[2][2], const size_t *nums, int num_nums,
                      const size_t *lengths, int num_lengths)
{
    const int shapes = num_nums * num_lengths;
    int status = 0;
    session->all_work = session->work_done = 0.0;
    clock_gettime(CLOCK_MONOTONIC, &session->begin);
    for (int dry = 1; dry >= 0; dry--) /* first add up the work */
        for (int i = 0; i < 4 * shapes && status == 0; i++) {
            const bool backward = i / shapes >= 2, reverse = i / shapes % 2 == 1;
            const size_t num_seqs = nums[i % shapes / num_lengths], seq_len = lengths[i % num_lengths];
            const double work = work_of(session, backward, reverse, num_seqs, seq_len);
            if (!directions[backward][reverse])
                continue;
            if (dry) {
                session->all_work += work;
                continue;
            }
            const bool ran = run_shape(session, backward, reverse, num_seqs, seq_len);
            status = session->status;
            tell_time_left(session, work, ran);
            if (ran && session->options.resume && status == 0)
                status = table_write_csv(session->options.csv, &session->run, session->rows, session->num_rows);
        }
    return status;
}

static int check_and_time(struct session *session)
{
    struct options *options = &session->options;
    const bool on_sim = session->on_sim;
    size_t lengths[MAX_LENGTHS], nums[4];
    int num_lengths = 0, num_nums = 0;
    bool directions[2][2];

    const size_t num_seqs = options->num_seqs_given ? options->num_seqs
                            : session->on_gpu       ? 100 * (size_t)session->device.multiProcessorCount
                            : on_sim                ? 4
                                                    : 64;
    if (session->chapter->compares && session->on_gpu && !options->num_seqs_given) { /* from one to many */
        nums[num_nums++] = 1;
        nums[num_nums++] = 8;
        nums[num_nums++] = (size_t)session->device.multiProcessorCount;
    }
    if (num_nums != 0 && nums[num_nums - 1] <= nums[num_nums - 2]) /* a very small GPU */
        num_nums--;
    nums[num_nums++] = num_seqs;
    for (int i = 0; i < options->num_seq_lens; i++)
        lengths[num_lengths++] = options->seq_lens[i];
    if (num_lengths == 0) {
        for (size_t length = 16; length <= (on_sim ? 4096 : 65536); length *= 2)
            lengths[num_lengths++] = length;
        if (on_sim)
            lengths[num_lengths++] = 1001; /* rows that start at any multiple of 4 bytes */
    }
    session->run.shape_width = (int)strlen(knobs_shape(&options->config, ':', session->shape));
    int status = check_request(session, directions, num_seqs, lengths, options->num_seq_lens);
    if (status == 0 && options->csv != NULL)
        status = output_probe(options->csv);
    if (status == 0 && options->resume)
        status = resume_read(&session->resume, options->csv, &session->run);
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
    if (session->resume.num_rows != 0)
        printf("what an interrupted run has finished stays as it is in %s; remove it to measure all again\n\n",
               options->csv);
    table_print_head(&session->run);
    if (!session->chapter->compares && !knobs_given(&options->config)) /* else another run does it */
        check_contracts(session);
    status = run_shapes(session, directions, nums, num_nums, lengths, num_lengths);
    if (session->flush_buffer != NULL)
        cudaFree(session->flush_buffer);

    if (options->csv != NULL && status == 0)
        status = table_write_csv(options->csv, &session->run, session->rows, session->num_rows);
    free(session->rows);
    resume_free(&session->resume);
    if (session->status != 0 && session->num_failed == 0)
        return status;
    if (on_sim)
        printf("\nThe simulator checks results and counts what one launch does; it says nothing about time.\n");
    if (session->num_failed > 3)
        fprintf(stderr, "and %d more; --variant NAME --seq-len L narrows it down\n", session->num_failed - 3);
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
    if (!knobs_take(kernel, &session->options.config))
        status = refuse_config(session, kernel);
    else if (kernel->partial)
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
        status = own_arrays_run(&own, kernel, &session->options);
    if (status == 0)
        printf("%s: %zu x %zu, %s, variant %s%s on %s\n", session->chapter->name, own.shape.num_seqs, own.shape.seq_len,
               direction_name(backward, reverse), kernel->name,
               knobs_shape(&session->options.config, ':', session->shape), session->run.device);
    own_arrays_free(&own);
    return status;
}

/* The table must say which variant runs on the reader's own arrays. Returns 0, or 2 after one line. */
static int check_table(const struct linrec_chapter *chapter)
{
    int num_defaults = 0;
    for (const struct linrec_kernel *kernel = chapter->kernels; kernel->name != NULL; kernel++)
        num_defaults += kernel->is_default;
    if (num_defaults == 1)
        return 0;
    return usage_error("the table of %s has %d default rows; mark one, and no other, with is_default", chapter->name,
                       num_defaults);
}

int harness_main(int argc, char **argv, const struct linrec_chapter *chapter)
{
    struct session session = {.chapter = chapter, .run = {.argc = argc, .argv = argv}};
    output_watch_stdout();
    int status = options_read(argc, argv, chapter, &session.options);
    if (status >= 0)
        return status;
    if ((status = check_table(chapter)) != 0)
        return status;
    if (session.options.fill != NULL)
        return array_files_fill(&session.options);
    if (session.options.print != NULL)
        return array_files_print(session.options.print);
    if (session.options.list) {
        print_list(chapter);
        return 0;
    }
    if ((status = open_device(&session)) != 0)
        return status;
    return session.options.arrays ? run_own_arrays(&session) : check_and_time(&session);
}
