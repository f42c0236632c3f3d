/* tune.c - which configuration of chapters 05 and 06 is the fastest on this GPU, for every length. Each is checked
   before it is timed. The result is a CSV with all of them, and a header with the best, which `make TUNED=` builds in.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../06_backward/backward.h"
#include "../../common/arrays.h"
#include "../../common/device.h"
#include "../../common/error.h"
#include "../../common/measure.h"
#include "../../common/options.h"
#include "../../common/output.h"

static const char *const movement_names[] = {[PIPE_BLOCKED] = "blocked",       [PIPE_STAGED] = "staged",
                                             [PIPE_VECTOR] = "vector",         [PIPE_ASYNC] = "async",
                                             [PIPE_BULK] = "bulk",             [PIPE_BULK_FIRST] = "bulk_first",
                                             [PIPE_BULK_LAST] = "bulk_last", [PIPE_FLAT] = "flat"};
static const char *const movement_enums[] = {[PIPE_BLOCKED] = "PIPE_BLOCKED",       [PIPE_STAGED] = "PIPE_STAGED",
                                             [PIPE_VECTOR] = "PIPE_VECTOR",         [PIPE_ASYNC] = "PIPE_ASYNC",
                                             [PIPE_BULK] = "PIPE_BULK",             [PIPE_BULK_FIRST] = "PIPE_BULK_FIRST",
                                             [PIPE_BULK_LAST] = "PIPE_BULK_LAST", [PIPE_FLAT] = "PIPE_FLAT"};

/* What is tried: every movement with these elements a thread, threads and stages. */
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

static int levels(size_t seq_len)
{
    (void)seq_len;
    return 16;
}

struct best {
    size_t seq_len;
    bool backward;
    struct pipe_config config;
    double gb_per_s, add_gb_per_s;
};

struct tuning {
    size_t num_seqs;
    void *flush_buffer;
    size_t flush_bytes;
    FILE *csv;
    int num_failed, repeats;
};

/* Whether it is worth a try: a tile should not be more than twice the sequence, nor a long sequence thousands of tiles.
 */
static bool is_sensible(const struct pipe_config *config, size_t seq_len)
{
    const size_t tile = (size_t)config->threads * config->rows * config->group;
    if (config->movement == PIPE_FLAT)
        return seq_len <= 4096;
    return (tile <= 2 * seq_len || config->threads == 32) && seq_len <= 128 * tile;
}

/* Median in ms, or a negative number. */
static double time_it(struct tuning *tuning, struct arrays *arrays, const struct linrec_kernel *kernel, int repeats)
{
    struct timing timing;
    const cudaError_t error = measure(arrays, kernel, arrays->backward, repeats, tuning->flush_buffer,
                                      tuning->flush_bytes, &timing);
    return error == cudaSuccess ? timing.median_ms : -1.0;
}

/* All configurations of one pass and length. Returns false if the arrays do not fit. */
static bool tune_length(struct tuning *tuning, bool backward, size_t seq_len, struct best *best)
{
    const struct data_spec spec = {0, DATA_UNIFORM, seq_len, false, 0};
    const struct linrec_kernel add = {.name = "add", .forward = baseline_add, .backward = baseline_add5};
    const struct linrec_kernel tried = {
        .name = "tried", .forward = launch_forward, .backward = launch_backward, .levels = levels};
    const struct shape *shapes = backward ? backward_shapes : forward_shapes;
    const size_t num_shapes = backward ? sizeof backward_shapes / sizeof *shapes : sizeof forward_shapes / sizeof *shapes;
    const double bytes = (backward ? 20.0 : 12.0) * (double)tuning->num_seqs * (double)seq_len;
    struct arrays arrays;

    if (arrays_create(&arrays, tuning->num_seqs, seq_len, backward) != cudaSuccess)
        return false;
    if (arrays_fill(&arrays, &spec) != cudaSuccess) {
        arrays_free(&arrays);
        return false;
    }
    const double add_ms = time_it(tuning, &arrays, &add, 2 * tuning->repeats + 1);
    best->seq_len = seq_len, best->backward = backward, best->gb_per_s = 0.0;
    best->add_gb_per_s = bytes * 1e-6 / add_ms;
    for (size_t s = 0; s < num_shapes; s++)
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
            const bool staged = shapes[s].movement == PIPE_ASYNC || PIPE_IS_BULK(shapes[s].movement);
            if (thread_counts[t] > shapes[s].max_threads)
                continue;
            if (shapes[s].max_threads == 1024 && s > 0 && shapes[s - 1].max_threads == 512 &&
                shapes[s - 1].rows == shapes[s].rows && thread_counts[t] <= 512)
                continue; /* the shape before has these */
            for (int stages = staged ? 2 : 1; stages <= (staged ? 3 : 1); stages++) {
                const struct pipe_config config = {(enum pipe_movement)shapes[s].movement, shapes[s].rows,
                                                   shapes[s].group, thread_counts[t], stages};
                struct check check;
                if (!is_sensible(&config, seq_len))
                    continue;
                current = config;
                arrays_check(&arrays, &tried, &spec, true, &check);
                if (strstr(check.text, cudaGetErrorString(cudaErrorNotSupported)) != NULL)
                    continue; /* the chip lacks what it needs */
                double ms = check.text[0] == '\0' ? time_it(tuning, &arrays, &tried, 3) : -1.0;
                if (ms > 0.0 && ms < 1.15 * add_ms)
                    ms = time_it(tuning, &arrays, &tried, tuning->repeats);
                if (ms <= 0.0) {
                    fprintf(stderr, "FAILED %s %s, %d rows of %d, %d threads, %d stages, %zu x %zu: %s\n",
                            movement_names[config.movement], direction_name(backward, false), config.rows, config.group,
                            config.threads, config.stages, tuning->num_seqs, seq_len, check.text);
                    tuning->num_failed++;
                    continue;
                }
                const double gb_per_s = bytes * 1e-6 / ms;
                fprintf(tuning->csv, "%s,%s,%s,%d,%d,%d,%zu,%zu,%.6g,%.6g,%.4g\n", backward ? "06_backward" : "05_pipe",
                        movement_names[config.movement], direction_name(backward, false), config.rows * config.group,
                        config.threads, config.stages, tuning->num_seqs, seq_len, ms, gb_per_s,
                        100.0 * gb_per_s / best->add_gb_per_s);
                if (gb_per_s > best->gb_per_s)
                    best->gb_per_s = gb_per_s, best->config = config;
            }
        }
    arrays_free(&arrays);
    return true;
}

int main(int argc, char **argv)
{
    static const struct linrec_kernel none[] = {{.name = NULL}};
    const struct linrec_chapter chapter = {.name = "tune", .kernels = none};
    struct options options;
    const int status = options_read(argc, argv, &chapter, &options);
    if (status >= 0)
        return status;
    struct tuning tuning = {.num_seqs = 13200, .flush_bytes = (size_t)128 << 20, .csv = fopen(options.csv, "w"), .repeats = options.repeats};
    cudaMalloc(&tuning.flush_buffer, tuning.flush_bytes);
    cudaMemset(tuning.flush_buffer, 0, tuning.flush_bytes);
    fprintf(tuning.csv, "chapter,movement,direction,elems,threads,stages,num_seqs,seq_len,median_ms,gb_per_s,percent_of_add\n");
    for (int backward = 1; backward >= 0; backward--)
        for (int i = 0; i < options.num_seq_lens && (!options.backward || backward) && (!options.forward || !backward); i++) {
            struct best best;
            if (!tune_length(&tuning, backward, options.seq_lens[i], &best)) { printf("skipped %zu\n", options.seq_lens[i]); continue; }
            printf("%-9s %6zu  %-9s %2d x %4d, %d stages  %7.1f GB/s  %5.1f %% of add\n", direction_name(backward, 0), options.seq_lens[i],
                   movement_names[best.config.movement], best.config.rows * best.config.group, best.config.threads, best.config.stages,
                   best.gb_per_s, 100 * best.gb_per_s / best.add_gb_per_s);
            fflush(stdout); fflush(tuning.csv);
        }
    return tuning.num_failed != 0; (void)movement_enums;
}
