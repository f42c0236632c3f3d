/* SPDX-License-Identifier: MIT */
/* tune.c - the program behind `make tune`: which kernel with which launch configuration (rows, threads, stages) is the
   fastest on this GPU, for every length. It tries every kernel of the chapters that takes a launch configuration, the
   gradients in chapters that have them, and checks each configuration before it times it. It writes a CSV with all of
   them, and beside it a header with the best, for `make TUNED=`. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/harness/check.h"
#include "../../common/base/error.h"
#include "../../common/linrec/linrec_operation.h"
#include "../../common/harness/measure.h"
#include "../../common/base/output.h"
#include "../../common/harness/selection.h"
#include "../../common/harness/table.h"
#include "../bench.h"

static const int thread_counts[] = {32, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024};
static const int stage_counts[] = {2, 3};

/* The best of one chapter at one length. */
struct best {
    const char *chapter, *variant;
    size_t seq_len;
    struct launch_config config;
    double gb_per_s, percent_of_add;
};

/* The chapters that have something to tune, and for each of them and each length the best. */
enum { MAX_CHAPTERS = 8 };

struct tuning {
    const char *chapters[MAX_CHAPTERS];
    int num_chapters;
    struct selection selection; /* the kernels of all chapters */
    struct machine machine;
    size_t num_seqs;
    int repeats;
    struct flush flush;
    FILE *csv;
    struct best *best;
    int num_best, num_failed;
};

/* ---- which kernels and launch configurations ---- */

static bool is_tunable(const struct kernel *kernel)
{
    const struct launch_tunables *tunable = &kernel->info->tunable;
    return tunable->rows[0] != 0 || tunable->max_threads != 0 || tunable->max_stages != 0;
}

/* A chapter that has gradients is tuned for them: its forward pass is the one of an earlier chapter. */
static bool has_gradients(const struct selection *selection, const char *chapter)
{
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        if (strcmp(kernel->chapter, chapter) == 0 && is_tunable(kernel) && kernel->runs[BACKWARD])
            return true;
    }
    return false;
}

/* Whether a kernel is tuned in this pass. */
static bool is_tuned(const struct selection *selection, const struct kernel *kernel, enum direction direction)
{
    return kernel->is_compared && is_tunable(kernel) && !kernel->info->partial && kernel->runs[direction] &&
           has_gradients(selection, kernel->chapter) == is_backward(direction);
}

/* Whether the other chapters can run this, too: what is best forward becomes the forward and the reversed default of
   the chapters with gradients, by their kernel of the same name. */
static bool others_take(const struct tuning *tuning, const struct kernel *kernel, const struct launch_config *config)
{
    for (int c = 0; c < tuning->num_chapters; c++) {
        bool taken = strcmp(tuning->chapters[c], kernel->chapter) == 0;
        for (int k = 0; k < tuning->selection.num_kernels && !taken; k++) {
            const struct kernel *other = &tuning->selection.kernels[k];
            taken = strcmp(other->chapter, tuning->chapters[c]) == 0 &&
                    strcmp(other->info->name, kernel->info->name) == 0 && other->runs[FORWARD] &&
                    launch_tunables_take(&other->info->tunable, config);
        }
        if (!taken)
            return false;
    }
    return true;
}

static bool runs_here(const struct tuning *tuning, const struct kernel *kernel, size_t seq_len)
{
    const size_t sizes[MAX_SIZES] = {[NUM_SEQS] = tuning->num_seqs, [SEQ_LEN] = seq_len};
    char why[256];
    return !selection_refuses(&tuning->selection, kernel, sizes, why, sizeof why);
}

/* Whether a configuration is worth a try: a tile no more than twice the sequence, a long sequence no more than 128
   tiles. */
static bool is_sensible(const struct launch_config *config, size_t seq_len)
{
    const size_t tile = (size_t)config->threads * (size_t)config->rows * 4;
    return tile == 0 || ((tile <= 2 * seq_len || config->threads == 32) && seq_len <= 128 * tile);
}

/* All configurations that the kernel takes, its own choice (all zero) first. Returns how many; at most `most`. */
static int list_configs(const struct kernel *kernel, size_t seq_len, struct launch_config *configs, int most)
{
    const struct launch_tunables *tunable = &kernel->info->tunable;
    int count = 0;
    configs[count++] = (struct launch_config){0, 0, 0};
    for (int r = 0; r < 4 && (r == 0 || tunable->rows[r] != 0); r++)
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++)
            for (size_t s = 0; s < sizeof stage_counts / sizeof *stage_counts; s++) {
                const struct launch_config config = {tunable->rows[r], tunable->max_threads != 0 ? thread_counts[t] : 0,
                                                     tunable->max_stages != 0 ? stage_counts[s] : 0};
                if ((t > 0 && config.threads == 0) || (s > 0 && config.stages == 0) || !launch_config_given(&config) ||
                    config.threads > tunable->max_threads || config.stages > tunable->max_stages ||
                    !is_sensible(&config, seq_len) || count == most)
                    continue;
                configs[count++] = config;
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
static double time_it(const struct tuning *tuning, const struct arrays *arrays, launch_function *launch,
                      const void *what, int repeats)
{
    struct timing timing;
    const cudaError_t error = measure(launch, what, &arrays->problem, 1, repeats, &tuning->flush, &timing);
    return error == cudaSuccess ? timing.median_ms : -1.0;
}

/* Checks and times one configuration of a kernel, into the CSV and, if it is the fastest so far that the defaults can
   take, into *best. Returns its time in ms; negative if it does not run here, or wrongly. */
static double try_config(struct tuning *tuning, struct arrays *arrays, const struct data *data, double add_ms,
                         const struct kernel *kernel, const struct launch_config *config, struct best *best)
{
    const char *direction = direction_name(arrays->problem.direction);
    const size_t seq_len = arrays->problem.sizes[SEQ_LEN];
    struct linrec_kernel row = *(const struct linrec_kernel *)kernel->info;
    struct kernel tried = *kernel;
    struct check check;
    char text[LAUNCH_CONFIG_TEXT];
    double ms = -1.0;

    current = (const struct linrec_kernel *)kernel->info;
    row.levels = levels;
    tried.info = &row.info;
    arrays->problem.config = *config;
    const cudaError_t error = arrays_launch(arrays, &tried);
    if (error == cudaErrorNotSupported ||
        launch_config_refused(config, error)) { /* too large for this chip, for example */
        cudaGetLastError();
        return -1.0;
    }
    check_launch(arrays, &tried, data, &check);
    if (check.text[0] == '\0' && arrays_take_workspace(arrays, &tried) == cudaSuccess)
        ms = time_it(tuning, arrays, linrec_operation.launch, &row, 3);
    if (ms > 0.0 && ms < 1.2 * add_ms) /* worth a careful measurement */
        ms = time_it(tuning, arrays, linrec_operation.launch, &row, tuning->repeats);
    arrays_drop_workspace(arrays);
    if (ms <= 0.0) {
        fprintf(stderr, "FAILED %s%s %s, %zu x %zu: %s\n", kernel->name, launch_config_text(config, ':', text),
                direction, tuning->num_seqs, seq_len, check.text[0] != '\0' ? check.text : "the launch failed");
        tuning->num_failed++;
        return -1.0;
    }
    const double gb_per_s = problem_bytes(&arrays->problem) * 1e-6 / ms, percent = 100.0 * add_ms / ms;
    fprintf(tuning->csv, "%s,%s,%s,%d,%d,%d,%zu,%zu,%.6f,%.2f,%.2f\n", kernel->chapter, kernel->info->name, direction,
            config->rows, config->threads, config->stages, tuning->num_seqs, seq_len, ms, gb_per_s, percent);
    if (gb_per_s > best->gb_per_s && (is_backward(arrays->problem.direction) || others_take(tuning, kernel, config)))
        *best = (struct best){kernel->chapter, kernel->info->name, seq_len, *config, gb_per_s, percent};
    return ms;
}

/* All kernels of one chapter, in all configurations. */
static void tune_chapter(struct tuning *tuning, struct arrays *arrays, const struct data *data, double add_ms,
                         const char *chapter, struct best *best)
{
    enum { MAX_CONFIGS = 128 };
    const enum direction direction = arrays->problem.direction;
    const size_t seq_len = arrays->problem.sizes[SEQ_LEN];
    for (int k = 0; k < tuning->selection.num_kernels; k++) {
        const struct kernel *kernel = &tuning->selection.kernels[k];
        struct launch_config configs[MAX_CONFIGS];
        if (!is_tuned(&tuning->selection, kernel, direction) || strcmp(kernel->chapter, chapter) != 0 ||
            !runs_here(tuning, kernel, seq_len))
            continue;
        const int num_configs = list_configs(kernel, seq_len, configs, MAX_CONFIGS);
        for (int i = 0; i < num_configs; i++) {
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K%s, length %zu: %s, %d of %d", direction_name(direction), seq_len,
                        kernel->name, i + 1, num_configs);
            const double ms = try_config(tuning, arrays, data, add_ms, kernel, &configs[i], best);
            if (i == 0 && ms > 3.0 * add_ms) /* not a kernel for this length */
                break;
        }
    }
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* All kernels and configurations of one pass and length. Returns 0, or 2 after one line on stderr. */
static int tune_length(struct tuning *tuning, enum direction direction, size_t seq_len, uint64_t seed)
{
    const size_t sizes[MAX_SIZES] = {[NUM_SEQS] = tuning->num_seqs, [SEQ_LEN] = seq_len};
    const struct data data = {seed, linrec_operation.hardest_kind};
    struct arrays arrays;

    if (arrays_create(&arrays, &linrec_operation, sizes, direction, FLOAT32, tuning->machine.backend) != cudaSuccess)
        return usage_error("%zu sequences of %zu elements do not fit into the device's memory; choose fewer with "
                           "--num-seqs, or other lengths with --seq-len",
                           tuning->num_seqs, seq_len);
    const cudaError_t error = arrays_fill(&arrays, &data);
    const struct baseline *add = &linrec_operation.add[is_backward(direction)];
    const double add_ms =
        error == cudaSuccess ? time_it(tuning, &arrays, baseline_launch, add, 2 * tuning->repeats) : -1.0;
    if (add_ms <= 0.0) {
        arrays_free(&arrays);
        return usage_error("the device does not run: %s", cudaGetErrorString(cudaGetLastError()));
    }
    for (int c = 0; c < tuning->num_chapters; c++) {
        struct best *best = &tuning->best[tuning->num_best];
        *best = (struct best){.gb_per_s = 0.0};
        tune_chapter(tuning, &arrays, &data, add_ms, tuning->chapters[c], best);
        if (best->gb_per_s > 0.0) {
            printf("%-9s %8zu   %-24s %4d %8d %7d %9.1f %7.1f\n", direction_name(direction), seq_len, best->variant,
                   best->config.rows, best->config.threads, best->config.stages, best->gb_per_s, best->percent_of_add);
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
            tuning->machine.device.name, path);
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

/* The chapters that have a kernel that can be tuned, in the table's order. */
static void find_chapters(struct tuning *tuning)
{
    const struct selection *selection = &tuning->selection;
    for (int k = 0; k < selection->num_kernels; k++) {
        const struct kernel *kernel = &selection->kernels[k];
        bool known = !is_tuned(selection, kernel, FORWARD) && !is_tuned(selection, kernel, BACKWARD);
        for (int c = 0; c < tuning->num_chapters && !known; c++)
            known = strcmp(tuning->chapters[c], kernel->chapter) == 0;
        if (!known && tuning->num_chapters < MAX_CHAPTERS)
            tuning->chapters[tuning->num_chapters++] = kernel->chapter;
    }
}

/* What the options say, and what they leave open. Returns 0, or 2 after one line on stderr. */
static int prepare(struct tuning *tuning, struct options *options)
{
    if (options->variant != NULL || options->reverse || options->any_file || options->check_only ||
        launch_config_given(&options->config))
        return usage_error("tuning takes --num-seqs, --seq-len, --forward, --backward, --seed, --repeats and --csv; "
                           "leave the others out");
    find_chapters(tuning);
    if (tuning->num_chapters == 0)
        return usage_error("no kernel of any chapter takes rows, threads or stages; there is nothing to tune");
    if (options->num_list == 0)
        for (size_t length = 16; length <= 65536; length *= 2)
            options->list[options->num_list++] = length;
    qsort(options->list, (size_t)options->num_list, sizeof options->list[0], by_length);
    tuning->num_seqs = options->size_given[NUM_SEQS] ? options->sizes[NUM_SEQS]
                                                     : 100 * (size_t)tuning->machine.device.multiProcessorCount;
    tuning->repeats = options->repeats != 0 ? options->repeats : 15;
    tuning->flush.bytes = 2 * (size_t)tuning->machine.device.l2CacheSize;
    tuning->best = calloc((size_t)options->num_list * 2 * MAX_CHAPTERS + 1, sizeof *tuning->best);
    if (tuning->num_seqs == 0 || options->list[0] == 0)
        return usage_error("there is nothing to tune in zero elements; choose larger numbers");
    if (tuning->best == NULL || cudaMalloc(&tuning->flush.buffer, tuning->flush.bytes) != cudaSuccess ||
        cudaMemset(tuning->flush.buffer, 0, tuning->flush.bytes) != cudaSuccess)
        return usage_error("not enough memory for the %zu bytes that flush the cache", tuning->flush.bytes);
    return 0;
}

int main(int argc, char **argv)
{
    static struct tuning tuning;
    struct options options;
    struct output output;
    char header[4096];

    output_watch_stdout();
    int status = options_read(argc, argv, "07_bench_tune", &linrec_operation, &options);
    if (status >= 0)
        return status;
    status = selection_collect(&tuning.selection, &chapter07, &options, &tuning.machine);
    if (status == 0)
        status = machine_find(false, &tuning.machine);
    if (status != 0)
        return status;
    if (tuning.machine.backend != ON_CUDA)
        return usage_error("tuning needs a GPU; the simulator knows no time");
    const size_t name_length = options.csv != NULL ? strlen(options.csv) : 0;
    if (name_length < 5 || name_length >= sizeof header || strcmp(options.csv + name_length - 4, ".csv") != 0)
        return usage_error("--csv FILE.csv says where the table goes, and FILE.h, the header; give it");
    snprintf(header, sizeof header, "%.*s.h", (int)name_length - 4, options.csv);
    if ((status = prepare(&tuning, &options)) != 0 || (status = output_open(&output, options.csv)) != 0)
        return status;
    const char *device = tuning.machine.device.name;
    tuning.csv = output.file;
    fprintf(tuning.csv, "# device: %s\n", device);
    csv_write_head(tuning.csv, &tuning.machine, options.command,
                   "chapter,variant,direction,rows,threads,stages,num_seqs,seq_len,median_ms,gb_per_s,percent_of_add");
    printf("the fastest of each length, %zu sequences, on %s; 0: the kernel's own choice\n\n", tuning.num_seqs, device);
    printf("direction  seq_len   variant                  rows  threads  stages      GB/s   %% add\n");
    for (int i = 0; i < options.num_list && status == 0 && !options.backward; i++)
        status = tune_length(&tuning, FORWARD, options.list[i], options.seed);
    for (int i = 0; i < options.num_list && status == 0 && !options.forward; i++)
        status = tune_length(&tuning, BACKWARD, options.list[i], options.seed);
    cudaFree(tuning.flush.buffer);
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
