/* tune.c - the program behind `make tune`: which shape (rows, threads, stages) of which kernel is the fastest on this
   GPU, for every length. It tries every kernel of the chapters that takes a shape, the gradient of those that have one,
   and checks each shape before it times it. It writes a CSV with all of them, and beside it a header with the best, for
   `make TUNED=`. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/about.h"
#include "../../common/arrays.h"
#include "../../common/device.h"
#include "../../common/error.h"
#include "../../common/knobs.h"
#include "../../common/measure.h"
#include "../../common/options.h"
#include "../../common/output.h"
#include "../bench.h"

static const int thread_counts[] = {32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024};
static const int stage_counts[] = {2, 3};

/* The best of one chapter at one length. */
struct best {
    const char *chapter, *variant;
    size_t seq_len;
    struct linrec_config config;
    double gb_per_s, percent_of_add;
};

/* The chapters that have something to tune, and for each of them and each length the best. */
enum { MAX_CHAPTERS = 8 };

struct tuning {
    const char *chapters[MAX_CHAPTERS];
    int num_chapters;
    size_t num_seqs;
    int repeats;
    struct run run;
    int arch; /* the chip's, or what the code was compiled for, if that is less */
    void *flush_buffer;
    size_t flush_bytes;
    FILE *csv;
    struct best *best;
    int num_best, num_failed;
};

/* ---- which kernels and shapes ---- */

static const char *variant_of(const struct linrec_kernel *kernel)
{
    const char *slash = strrchr(kernel->name, '/');
    return slash != NULL ? slash + 1 : kernel->name;
}

static bool has_knobs(const struct linrec_kernel *kernel)
{
    return kernel->knobs.rows[0] != 0 || kernel->knobs.max_threads != 0 || kernel->knobs.max_stages != 0;
}

/* A chapter that has gradients is tuned for them: its forward pass is the one of an earlier chapter. */
static bool has_gradients(const char *chapter)
{
    for (const struct linrec_kernel *kernel = bench_kernels(); kernel->name != NULL; kernel++)
        if (kernel->chapter != NULL && strcmp(kernel->chapter, chapter) == 0 && has_knobs(kernel) &&
            kernel->backward != NULL)
            return true;
    return false;
}

/* Whether a kernel is tuned in this pass. */
static bool is_tuned(const struct linrec_kernel *kernel, bool backward)
{
    return kernel->chapter != NULL && has_knobs(kernel) && !kernel->partial &&
           (backward ? kernel->backward : kernel->forward) != NULL && has_gradients(kernel->chapter) == backward;
}

/* Whether the other chapters can run this, too: what is best forward becomes the forward and the reversed default of
   the chapters with gradients, by their kernel of the same name. */
static bool others_take(const struct tuning *tuning, const struct linrec_kernel *kernel,
                        const struct linrec_config *shape)
{
    for (int c = 0; c < tuning->num_chapters; c++) {
        bool taken = strcmp(tuning->chapters[c], kernel->chapter) == 0;
        for (const struct linrec_kernel *other = bench_kernels(); other->name != NULL && !taken; other++)
            taken = other->chapter != NULL && strcmp(other->chapter, tuning->chapters[c]) == 0 &&
                    strcmp(variant_of(other), variant_of(kernel)) == 0 && other->forward != NULL &&
                    knobs_take(other, shape);
        if (!taken)
            return false;
    }
    return true;
}

static bool runs_here(const struct tuning *tuning, const struct linrec_kernel *kernel, size_t seq_len)
{
    return kernel->min_arch <= tuning->arch && (kernel->max_seq_len == 0 || seq_len <= kernel->max_seq_len) &&
           (kernel->max_num_seqs == 0 || tuning->num_seqs <= kernel->max_num_seqs) &&
           (kernel->max_elems == 0 || seq_len <= kernel->max_elems / tuning->num_seqs);
}

/* Whether a shape is worth a try: a tile no more than twice the sequence, a long sequence no more than 128 tiles. */
static bool is_sensible(const struct linrec_config *config, size_t seq_len)
{
    const size_t tile = (size_t)config->threads * (size_t)config->rows * 4;
    return tile == 0 || ((tile <= 2 * seq_len || config->threads == 32) && seq_len <= 128 * tile);
}

/* All shapes that the kernel's knobs allow, its own choice (all zero) first. Returns how many; at most `most`. */
static int list_shapes(const struct linrec_kernel *kernel, size_t seq_len, struct linrec_config *shapes, int most)
{
    const struct linrec_knobs *knobs = &kernel->knobs;
    int count = 0;
    shapes[count++] = (struct linrec_config){0, 0, 0};
    for (int r = 0; r < 4 && (r == 0 || knobs->rows[r] != 0); r++)
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++)
            for (size_t s = 0; s < sizeof stage_counts / sizeof *stage_counts; s++) {
                const struct linrec_config shape = {knobs->rows[r], knobs->max_threads != 0 ? thread_counts[t] : 0,
                                                    knobs->max_stages != 0 ? stage_counts[s] : 0};
                if ((t > 0 && shape.threads == 0) || (s > 0 && shape.stages == 0) || !knobs_given(&shape) ||
                    shape.threads > knobs->max_threads || shape.stages > knobs->max_stages ||
                    !is_sensible(&shape, seq_len) || count == most)
                    continue;
                shapes[count++] = shape;
            }
    return count;
}

/* ---- check and time ---- */

/* The kernel that is tried now. Its bound is for its own choice of threads; twice as many warps add a level. */
static const struct linrec_kernel *current;

static int levels(size_t seq_len)
{
    return 1 + (current->levels != NULL ? current->levels(seq_len) : 16);
}

/* Median in ms, or a negative number if a launch fails. */
static double time_it(const struct tuning *tuning, struct arrays *arrays, const struct linrec_kernel *kernel,
                      int repeats)
{
    struct timing timing;
    const cudaError_t error =
        measure(arrays, kernel, arrays->backward, repeats, tuning->flush_buffer, tuning->flush_bytes, &timing);
    return error == cudaSuccess ? timing.median_ms : -1.0;
}

/* Checks and times one shape of a kernel, into the CSV and, if it is the fastest so far that the defaults can take,
   into *best. Returns its time in ms; negative if it does not run here, or wrongly. */
static double try_shape(struct tuning *tuning, struct arrays *arrays, const struct data_spec *spec, double add_ms,
                        const struct linrec_kernel *kernel, const struct linrec_config *shape, struct best *best)
{
    const bool backward = arrays->backward;
    const size_t seq_len = arrays->args.seq_len;
    const double bytes = (backward ? 20.0 : 12.0) * (double)tuning->num_seqs * (double)seq_len;
    struct linrec_kernel tried = *kernel;
    struct check check;
    char text[KNOBS_TEXT];
    double ms = -1.0;

    current = kernel;
    tried.levels = levels;
    arrays->args.config = *shape;
    const cudaError_t error = arrays_launch(arrays, &tried, backward);
    if (error == cudaErrorNotSupported || knobs_refused(shape, error)) { /* too large for this chip, for example */
        cudaGetLastError();
        return -1.0;
    }
    arrays_check(arrays, &tried, spec, true, &check);
    if (check.text[0] == '\0')
        ms = time_it(tuning, arrays, &tried, 3);
    if (ms > 0.0 && ms < 1.2 * add_ms) /* worth to be timed well */
        ms = time_it(tuning, arrays, &tried, tuning->repeats);
    if (ms <= 0.0) {
        fprintf(stderr, "FAILED %s%s %s, %zu x %zu: %s\n", kernel->name, knobs_shape(shape, ':', text),
                direction_name(backward, false), tuning->num_seqs, seq_len,
                check.text[0] != '\0' ? check.text : "the launch failed");
        tuning->num_failed++;
        return -1.0;
    }
    const double gb_per_s = bytes * 1e-6 / ms, percent = 100.0 * add_ms / ms;
    fprintf(tuning->csv, "%s,%s,%s,%d,%d,%d,%zu,%zu,%.6f,%.2f,%.2f\n", kernel->chapter, variant_of(kernel),
            direction_name(backward, false), shape->rows, shape->threads, shape->stages, tuning->num_seqs, seq_len, ms,
            gb_per_s, percent);
    if (gb_per_s > best->gb_per_s && (backward || others_take(tuning, kernel, shape)))
        *best = (struct best){kernel->chapter, variant_of(kernel), seq_len, *shape, gb_per_s, percent};
    return ms;
}

/* All kernels and shapes of one pass and length. Returns 0, or 2 after one line on stderr. */
static int tune_length(struct tuning *tuning, bool backward, size_t seq_len, uint64_t seed)
{
    enum { MAX_SHAPES = 128 };
    const struct data_spec spec = {seed, DATA_NEAR_ONE, seq_len, false, 0, backward};
    const struct linrec_kernel add = {.name = "add", .forward = baseline_add, .backward = baseline_add5};
    struct arrays arrays;

    if (arrays_create(&arrays, tuning->num_seqs, seq_len, backward) != cudaSuccess)
        return usage_error("%zu sequences of %zu elements do not fit into the device's memory; choose fewer with "
                           "--num-seqs, or other lengths with --seq-len",
                           tuning->num_seqs, seq_len);
    const cudaError_t error = arrays_fill(&arrays, &spec);
    const double add_ms = error == cudaSuccess ? time_it(tuning, &arrays, &add, 2 * tuning->repeats) : -1.0;
    if (add_ms <= 0.0) {
        arrays_free(&arrays);
        return usage_error("the device does not run: %s", cudaGetErrorString(cudaGetLastError()));
    }
    for (int c = 0; c < tuning->num_chapters; c++) {
        struct best *best = &tuning->best[tuning->num_best];
        *best = (struct best){.gb_per_s = 0.0};
        for (const struct linrec_kernel *kernel = bench_kernels(); kernel->name != NULL; kernel++) {
            struct linrec_config shapes[MAX_SHAPES];
            if (!is_tuned(kernel, backward) || strcmp(kernel->chapter, tuning->chapters[c]) != 0 ||
                !runs_here(tuning, kernel, seq_len))
                continue;
            const int num_shapes = list_shapes(kernel, seq_len, shapes, MAX_SHAPES);
            for (int i = 0; i < num_shapes; i++) {
                if (isatty(STDERR_FILENO))
                    fprintf(stderr, "\r\033[K%s, length %zu: %s, %d of %d", direction_name(backward, false), seq_len,
                            kernel->name, i + 1, num_shapes);
                const double ms = try_shape(tuning, &arrays, &spec, add_ms, kernel, &shapes[i], best);
                if (i == 0 && ms > 3.0 * add_ms) /* not a kernel for this length */
                    break;
            }
        }
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K");
        if (best->gb_per_s > 0.0) {
            printf("%-9s %8zu   %-24s %4d %8d %7d %9.1f %7.1f\n", direction_name(backward, false), seq_len,
                   best->variant, best->config.rows, best->config.threads, best->config.stages, best->gb_per_s,
                   best->percent_of_add);
            fflush(stdout);
            tuning->num_best++;
        }
    }
    arrays_free(&arrays);
    return 0;
}

/* ---- what is written ---- */

/* A list for each chapter, named after it: 05_pipe has PIPE_TUNED. Returns 0, or 2 after one line on stderr. */
static int write_header(const char *path, const struct tuning *tuning)
{
    struct output output;
    const int status = output_open(&output, path);
    if (status != 0)
        return status;
    FILE *file = output.file;
    fprintf(file,
            "/* Written by `make tune`: the fastest kernels for %s, up to the lengths in front, as\n"
            "   X(max_seq_len, variant, rows, threads, stages); 0: the kernel's own choice. `make TUNED=%s` builds\n"
            "   them into the defaults. */\n"
            "#ifndef LINREC_TUNED_H\n#define LINREC_TUNED_H\n",
            tuning->run.device, path);
    for (int c = 0; c < tuning->num_chapters; c++) {
        const char *underscore = strchr(tuning->chapters[c], '_');
        fprintf(file, "\n#define ");
        for (const char *at = underscore != NULL ? underscore + 1 : tuning->chapters[c]; *at != '\0'; at++)
            fputc(toupper((unsigned char)*at), file);
        fprintf(file, "_TUNED(X)");
        for (const struct best *best = tuning->best; best < tuning->best + tuning->num_best; best++)
            if (strcmp(best->chapter, tuning->chapters[c]) == 0)
                fprintf(file, " \\\n    X(%zu, %s, %d, %d, %d)", best->seq_len, best->variant, best->config.rows,
                        best->config.threads, best->config.stages);
        fprintf(file, "\n");
    }
    fprintf(file, "\n#endif\n");
    return output_commit(&output);
}

static int by_length(const void *a, const void *b)
{
    const size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return (first > second) - (first < second);
}

/* The chapters that have a kernel with knobs, in the table's order. */
static void find_chapters(struct tuning *tuning)
{
    for (const struct linrec_kernel *kernel = bench_kernels(); kernel->name != NULL; kernel++) {
        bool known = !is_tuned(kernel, false) && !is_tuned(kernel, true);
        for (int c = 0; c < tuning->num_chapters && !known; c++)
            known = strcmp(tuning->chapters[c], kernel->chapter) == 0;
        if (!known && tuning->num_chapters < MAX_CHAPTERS)
            tuning->chapters[tuning->num_chapters++] = kernel->chapter;
    }
}

int main(int argc, char **argv)
{
    static const struct linrec_kernel none[] = {{.name = NULL}};
    const struct linrec_chapter chapter = {.name = "07_bench_tune", .kernels = none};
    static struct tuning tuning;
    struct cudaDeviceProp device;
    struct options options;
    struct output output;
    char header[4096];

    output_watch_stdout();
    tuning.run.argc = argc, tuning.run.argv = argv;
    int status = options_read(argc, argv, &chapter, &options);
    if (status < 0)
        status = about_device(false, &tuning.run, &device);
    if (status != 0)
        return status;
    if (strcmp(tuning.run.backend, "cuda") != 0)
        return usage_error("tuning needs a GPU; the simulator knows no time");
    const size_t name_length = options.csv != NULL ? strlen(options.csv) : 0;
    if (name_length < 5 || name_length >= sizeof header || strcmp(options.csv + name_length - 4, ".csv") != 0)
        return usage_error("--csv FILE.csv says where the table goes, and FILE.h, the header; give it");
    snprintf(header, sizeof header, "%.*s.h", (int)name_length - 4, options.csv);
    if (options.variant != NULL || options.reverse || options.arrays || options.check_only ||
        knobs_given(&options.config))
        return usage_error("tuning takes --num-seqs, --seq-len, --forward, --backward, --seed, --repeats and --csv; "
                           "leave the others out");
    find_chapters(&tuning);
    if (tuning.num_chapters == 0)
        return usage_error("no kernel of any chapter takes rows, threads or stages; there is nothing to tune");
    if (options.num_seq_lens == 0)
        for (size_t length = 16; length <= 65536; length *= 2)
            options.seq_lens[options.num_seq_lens++] = length;
    qsort(options.seq_lens, (size_t)options.num_seq_lens, sizeof options.seq_lens[0], by_length);
    const int chip = device.major * 10 + device.minor;
    tuning.arch = chip < LINREC_ARCH ? chip : LINREC_ARCH;
    tuning.num_seqs = options.num_seqs_given ? options.num_seqs : 100 * (size_t)device.multiProcessorCount;
    tuning.repeats = options.repeats != 0 ? options.repeats : 15;
    tuning.flush_bytes = 2 * (size_t)device.l2CacheSize;
    tuning.best = calloc((size_t)options.num_seq_lens * 2 * MAX_CHAPTERS + 1, sizeof *tuning.best);
    if (tuning.num_seqs == 0 || options.seq_lens[0] == 0)
        return usage_error("there is nothing to tune in zero elements; choose larger numbers");
    if (tuning.best == NULL || cudaMalloc(&tuning.flush_buffer, tuning.flush_bytes) != cudaSuccess ||
        cudaMemset(tuning.flush_buffer, 0, tuning.flush_bytes) != cudaSuccess)
        return usage_error("not enough memory for the %zu bytes that flush the cache", tuning.flush_bytes);
    if ((status = output_open(&output, options.csv)) != 0)
        return status;
    tuning.csv = output.file;
    table_write_origin(tuning.csv, &tuning.run);
    fprintf(tuning.csv,
            "# device: %s\nchapter,variant,direction,rows,threads,stages,num_seqs,seq_len,median_ms,"
            "gb_per_s,percent_of_add\n",
            tuning.run.device);
    printf("the fastest of each length, %zu sequences, on %s; 0: the kernel's own choice\n\n", tuning.num_seqs,
           tuning.run.device);
    printf("direction  seq_len   variant                  rows  threads  stages      GB/s   %% add\n");
    for (int backward = 0; backward < 2 && status == 0; backward++)
        for (int i = 0; i < options.num_seq_lens && status == 0; i++)
            if (!(backward ? options.forward : options.backward))
                status = tune_length(&tuning, backward, options.seq_lens[i], options.seed);
    cudaFree(tuning.flush_buffer);
    if (status == 0)
        status = output_commit(&output);
    else
        output_discard(&output);
    if (status == 0)
        status = write_header(header, &tuning);
    if (status == 0)
        printf("\nall that was tried: %s; to build the best into the defaults: make TUNED=%s\n", options.csv, header);
    return status != 0 ? status : tuning.num_failed != 0;
}
