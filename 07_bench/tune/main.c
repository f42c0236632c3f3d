/* main.c - the program behind `make tune`: which configuration of chapters 05 and 06 is the fastest on this GPU, for
   every length. Each is checked before it is timed. It writes a CSV with all of them, and beside it a header with the
   best, for `make TUNED=`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../06_backward/backward.h"
#include "../../common/about.h"
#include "../../common/arrays.h"
#include "../../common/device.h"
#include "../../common/error.h"
#include "../../common/measure.h"
#include "../../common/options.h"
#include "../../common/output.h"

#define MOVEMENTS(X)                                                                                                   \
    X(PIPE_BLOCKED, "blocked")                                                                                         \
    X(PIPE_STAGED, "staged")                                                                                           \
    X(PIPE_VECTOR, "vector")                                                                                           \
    X(PIPE_ASYNC, "async")                                                                                             \
    X(PIPE_BULK, "bulk")                                                                                               \
    X(PIPE_BULK_FIRST, "bulk_first")                                                                                   \
    X(PIPE_BULK_LAST, "bulk_last")                                                                                     \
    X(PIPE_FLAT, "flat")
#define NAME(movement, name) [movement] = name,
#define SYMBOL(movement, name) [movement] = #movement,
static const char *const names[] = {MOVEMENTS(NAME)};
static const char *const symbols[] = {MOVEMENTS(SYMBOL)};

/* What is tried: what grid.h lists, with these numbers of threads, and two and three stages. */
static const int thread_counts[] = {32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024};

struct shape {
    int movement, rows, group, max_threads;
};
#define FORWARD(movement, rows, group, max_threads) {movement, rows, group, max_threads},
#define BACKWARD(movement, rows, max_threads) {movement, rows, 4, max_threads},
static const struct shape forward_shapes[] = {{PIPE_FLAT, 1, 4, PIPE_FLAT_MAX_THREADS}, PIPE_CONFIGS(FORWARD)};
static const struct shape backward_shapes[] = {{PIPE_FLAT, 1, 4, PIPE_FLAT_MAX_THREADS}, BACKWARD_CONFIGS(BACKWARD)};

/* The configuration that is tried now; a launcher has no other way to learn of it. */
static struct pipe_config current;

static cudaError_t launch_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return pipe_launch(&current, args, stream);
}

static cudaError_t launch_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return backward_launch(&current, args, stream);
}

static int levels(size_t seq_len) /* as chapters 05 and 06 have, with twice the warps in a block */
{
    (void)seq_len;
    return 17;
}

struct best {
    size_t seq_len;
    bool backward;
    struct pipe_config config;
    int max_threads; /* that its kernel was compiled for */
    double gb_per_s, percent_of_add;
};

struct tuning {
    size_t num_seqs;
    int repeats;
    struct run run;
    void *flush_buffer;
    size_t flush_bytes;
    FILE *csv;
    struct best best[2 * MAX_LENGTHS];
    int num_best, num_failed;
};

/* Whether a configuration is worth a try: a tile no more than twice the sequence, a long sequence no more than 128
   tiles. */
static bool is_sensible(const struct pipe_config *config, size_t seq_len)
{
    const size_t tile = (size_t)config->threads * config->rows * config->group;
    if (config->movement == PIPE_FLAT)
        return seq_len <= 4096;
    return (tile <= 2 * seq_len || config->threads == 32) && seq_len <= 128 * tile;
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

/* Checks and times `current`, into the CSV and, if it is the fastest so far, into *best. */
static void try_current(struct tuning *tuning, struct arrays *arrays, const struct data_spec *spec, double add_ms,
                        int max_threads, struct best *best)
{
    const struct linrec_kernel kernel = {
        .name = "tried", .forward = launch_forward, .backward = launch_backward, .levels = levels};
    const double bytes = (best->backward ? 20.0 : 12.0) * (double)tuning->num_seqs * (double)best->seq_len;
    const char *direction = direction_name(best->backward, false);
    const cudaError_t error = arrays_launch(arrays, &kernel, best->backward);
    struct check check;
    double ms = -1.0;

    if (error == cudaErrorNotSupported) /* the chip lacks what it needs */
        return;
    arrays_check(arrays, &kernel, spec, true, &check);
    if (check.text[0] == '\0')
        ms = time_it(tuning, arrays, &kernel, 3);
    if (ms > 0.0 && ms < 1.2 * add_ms) /* worth to be timed well */
        ms = time_it(tuning, arrays, &kernel, tuning->repeats);
    if (ms <= 0.0) {
        fprintf(stderr, "FAILED %s %s, %d elements a thread, %d threads, %d stages, %zu x %zu: %s\n",
                names[current.movement], direction, current.rows * current.group, current.threads, current.stages,
                tuning->num_seqs, best->seq_len, check.text[0] != '\0' ? check.text : "the launch failed");
        tuning->num_failed++;
        return;
    }
    const double gb_per_s = bytes * 1e-6 / ms, percent = 100.0 * add_ms / ms;
    fprintf(tuning->csv, "%s,%s,%s,%d,%d,%d,%zu,%zu,%.6f,%.2f,%.2f\n", best->backward ? "06_backward" : "05_pipe",
            names[current.movement], direction, current.rows * current.group, current.threads, current.stages,
            tuning->num_seqs, best->seq_len, ms, gb_per_s, percent);
    if (gb_per_s > best->gb_per_s)
        best->gb_per_s = gb_per_s, best->percent_of_add = percent, best->config = current,
        best->max_threads = max_threads;
}

/* All configurations of one pass and length. Returns 0, or 2 after one line on stderr. */
static int tune_length(struct tuning *tuning, bool backward, size_t seq_len, uint64_t seed)
{
    const struct data_spec spec = {seed, DATA_NEAR_ONE, seq_len, false, 0};
    const struct linrec_kernel add = {.name = "add", .forward = baseline_add, .backward = baseline_add5};
    const struct shape *shapes = backward ? backward_shapes : forward_shapes;
    const size_t num_shapes =
        backward ? sizeof backward_shapes / sizeof *shapes : sizeof forward_shapes / sizeof *shapes;
    struct best *best = &tuning->best[tuning->num_best];
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
    *best = (struct best){.seq_len = seq_len, .backward = backward};
    for (size_t s = 0; s < num_shapes; s++) {
        const bool staged = shapes[s].movement == PIPE_ASYNC || PIPE_IS_BULK(shapes[s].movement);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K%s, length %zu: %s, %zu of %zu", direction_name(backward, false), seq_len,
                    names[shapes[s].movement], s + 1, num_shapes);
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++)
            for (int stages = staged ? 2 : 1; stages <= (staged ? 3 : 1); stages++) {
                current = (struct pipe_config){(enum pipe_movement)shapes[s].movement, shapes[s].rows, shapes[s].group,
                                               thread_counts[t], stages};
                if (thread_counts[t] <= shapes[s].max_threads && is_sensible(&current, seq_len))
                    try_current(tuning, &arrays, &spec, add_ms, shapes[s].max_threads, best);
            }
    }
    arrays_free(&arrays);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    if (best->gb_per_s > 0.0) {
        printf("%-9s %8zu   %-10s %4d %8d %7d %9.1f %7.1f\n", direction_name(backward, false), seq_len,
               names[best->config.movement], best->config.rows * best->config.group, best->config.threads,
               best->config.stages, best->gb_per_s, best->percent_of_add);
        fflush(stdout);
        tuning->num_best++;
    }
    return 0;
}

/* The two lists of one pass: what must be compiled, and what is taken up to which length. */
static void write_lists(FILE *file, const struct tuning *tuning, bool backward)
{
    const char *pass = backward ? "BACKWARD" : "PIPE";
    fprintf(file, "\n#define %s_TUNED_CONFIGS(X)", pass);
    for (const struct best *best = tuning->best; best < tuning->best + tuning->num_best; best++) {
        const struct pipe_config *config = &best->config;
        if (best->backward != backward || config->movement == PIPE_FLAT)
            continue;
        fprintf(file, " \\\n    X(%s, %d, ", symbols[config->movement], config->rows);
        if (!backward)
            fprintf(file, "%d, ", config->group);
        fprintf(file, "%d)", best->max_threads);
    }
    fprintf(file, "\n#define %s_TUNED_LENGTHS(X)", pass);
    for (const struct best *best = tuning->best; best < tuning->best + tuning->num_best; best++)
        if (best->backward == backward)
            fprintf(file, " \\\n    X(%zu, %s, %d, %d, %d, %d)", best->seq_len, symbols[best->config.movement],
                    best->config.rows, best->config.group, best->config.threads, best->config.stages);
    fprintf(file, "\n");
}

/* Returns 0, or 2 after one line on stderr. */
static int write_header(const char *path, const struct tuning *tuning)
{
    struct output output;
    const int status = output_open(&output, path);
    if (status != 0)
        return status;
    fprintf(output.file,
            "/* Written by `make tune`: the fastest configurations of chapters 05 and 06 for %s, up to the\n"
            "   lengths in front. `make TUNED=%s` builds them in. */\n"
            "#ifndef LINREC_TUNED_H\n#define LINREC_TUNED_H\n",
            tuning->run.device, path);
    write_lists(output.file, tuning, false);
    write_lists(output.file, tuning, true);
    fprintf(output.file, "\n#endif\n");
    return output_commit(&output);
}

static int by_length(const void *a, const void *b)
{
    const size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return (first > second) - (first < second);
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
    if (options.variant != NULL || options.reverse || options.arrays || options.check_only)
        return usage_error("tuning takes --num-seqs, --seq-len, --forward, --backward, --seed, --repeats and --csv; "
                           "leave the others out");
    if (options.num_seq_lens == 0)
        for (size_t length = 16; length <= 65536; length *= 2)
            options.seq_lens[options.num_seq_lens++] = length;
    qsort(options.seq_lens, (size_t)options.num_seq_lens, sizeof options.seq_lens[0], by_length);
    tuning.num_seqs = options.num_seqs_given ? options.num_seqs : 100 * (size_t)device.multiProcessorCount;
    tuning.repeats = options.repeats != 0 ? options.repeats : 15;
    tuning.flush_bytes = 2 * (size_t)device.l2CacheSize;
    if (tuning.num_seqs == 0 || options.seq_lens[0] == 0)
        return usage_error("there is nothing to tune in zero elements; choose larger numbers");
    if (cudaMalloc(&tuning.flush_buffer, tuning.flush_bytes) != cudaSuccess ||
        cudaMemset(tuning.flush_buffer, 0, tuning.flush_bytes) != cudaSuccess)
        return usage_error("not enough memory for the %zu bytes that flush the cache", tuning.flush_bytes);
    if ((status = output_open(&output, options.csv)) != 0)
        return status;
    tuning.csv = output.file;
    table_write_origin(tuning.csv, &tuning.run);
    fprintf(tuning.csv,
            "# device: %s\nchapter,movement,direction,elems,threads,stages,num_seqs,seq_len,median_ms,"
            "gb_per_s,percent_of_add\n",
            tuning.run.device);
    printf("the fastest of each length, %zu sequences, on %s\n\n", tuning.num_seqs, tuning.run.device);
    printf("direction  seq_len   movement   elems  threads  stages      GB/s   %% add\n");
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
        printf("\nall that was tried: %s; to build 05 and 06 with the best: make TUNED=%s\n", options.csv, header);
    return status != 0 ? status : tuning.num_failed != 0;
}
