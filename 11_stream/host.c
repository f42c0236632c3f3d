/* SPDX-License-Identifier: MIT */
/* host.c - the placement of chapter 11's arrays: in the host's memory, of the kind that a variant wants. What the
   harness asks of a placement is in placement.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/base/error.h"
#include "../common/linrec/linrec_operation.h"
#include "streams.h"
#ifdef CUSIM
#include "../cusim/counts.h"
#endif

enum { NUM_ARRAYS = LINREC_INITIAL_STATE }; /* all but the states */

/* The columns. */
enum { SEQS, LENGTH, PIECE, MS, MS_P20, MS_P80, PERCENT_OF_ROOF, IN, OUT, LAUNCHES, DEVICE_MB, MAX_ERROR, NUM_COLUMNS };

static struct job job;    /* the variant that is run */
static size_t most_bytes; /* of the device, which a variant may take; 0: not known yet */

/* The arrays, which the next variant may need, too. */
static struct {
    enum memory memory;
    size_t count; /* elements of each; 0: none is allocated */
    void *arrays[MAX_ARRAYS];
    bool is_filled; /* for such a variant and problem, with these data */
    bool recomputes;
    struct problem problem;
    struct data data;
} host;

/* ---- memory ---- */

static void release_arrays(void)
{
    for (int a = 0; a < NUM_ARRAYS && host.count > 0; a++)
        if (host.memory == PAGEABLE)
            free(host.arrays[a]);
        else
            need(host.memory == PINNED ? cudaFreeHost(host.arrays[a]) : cudaFree(host.arrays[a]),
                 "no memory of the host");
    host.count = 0;
}

static void make_arrays(enum memory memory, size_t count)
{
    if (host.count == count && host.memory == memory)
        return;
    release_arrays();
    memset(&host, 0, sizeof host);
    for (int a = 0; a < NUM_ARRAYS && count > 0; a++) {
        void **const array = &host.arrays[a];
        cudaError_t error = cudaSuccess;
        if (memory == PAGEABLE)
            error = (*array = malloc(count * sizeof(float))) == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
        else if (memory == PINNED)
            error = cudaMallocHost(array, count * sizeof(float));
        else
            error = cudaMallocManaged(array, count * sizeof(float), cudaMemAttachGlobal);
        need(error, "no memory of the host; try shorter sequences");
    }
    host.memory = memory;
    host.count = count;
}

static bool place(struct placed *placed)
{
    const struct variant *const variant = placed->kernel;
    const size_t *const sizes = placed->problem.sizes;
    size_t total;
    if (most_bytes == 0)
        need(cudaMemGetInfo(&most_bytes, &total), "no memory");
    make_arrays(variant->memory, sizes[NUM_SEQS] * sizes[SEQ_LEN]);
    memcpy(placed->problem.arrays, host.arrays, sizeof host.arrays);
    const struct linrec_args args = linrec_args_of(&placed->problem);
    if (!job_create(&job, variant, &args, is_backward(placed->problem.direction), placed->piece, most_bytes)) {
        printf("left out: %s %s, %zu x %zu: it takes %.3f MB on the device, where %.3f MB are free; take a variant in "
               "pieces\n",
               variant->info.name, direction_name(placed->problem.direction), sizes[NUM_SEQS], sizes[SEQ_LEN],
               (double)job.device_bytes * 1e-6, (double)most_bytes * 1e-6);
        return false;
    }
    if (variant->cut == IN_ONE || variant->cut == AS_IT_LIES)
        placed->piece = job.seqs_in_piece * job.length_of_piece;
    snprintf(placed->where, sizeof placed->where, " in pieces of %zu", placed->piece);
    placed->values[SEQS] = (double)sizes[NUM_SEQS];
    placed->values[LENGTH] = (double)sizes[SEQ_LEN];
    placed->values[PIECE] = (double)placed->piece;
    return true;
}

static void release(struct placed *placed)
{
    (void)placed;
    job_free(&job);
}

/* Where nothing is cut, one size of a piece is as good as another. */
static bool is_idle(const struct placed *placed, bool is_first_piece)
{
    const struct variant *const variant = placed->kernel;
    return !is_first_piece && variant->cut != BY_SEQS && variant->cut != BY_TIME;
}

/* ---- data and results ---- */

/* What a pass reads it does not change. So what the arrays hold already is not written again. */
static bool is_there(const struct problem *problem, const struct data *data)
{
    const bool same = host.is_filled && host.recomputes == job.variant->recomputes && host.data.kind == data->kind &&
                      host.problem.direction == problem->direction &&
                      memcmp(host.problem.sizes, problem->sizes, sizeof problem->sizes) == 0;
    host.is_filled = true;
    host.recomputes = job.variant->recomputes;
    host.problem = *problem;
    host.data = *data;
    return same;
}

static void fill(struct placed *placed, const struct data *data)
{
    struct problem problem = placed->problem, forward = problem;
    forward.direction = direction_of(false, is_reversed(problem.direction));
    forward.arrays[LINREC_OUTPUTS] = NULL;
    if (job.variant->recomputes)
        problem.arrays[LINREC_OUTPUTS] = NULL;
    if (!is_there(&problem, data)) {
        problem.operation->fill(&problem, data);
        if (job.variant->recomputes)
            problem.operation->fill(&forward, data);
    }
    for (int a = 0; a < NUM_ARRAYS && host.count > 0; a++) {
        const bool is_read = array_role(&problem.operation->arrays[a], problem.direction) == READ;
        const bool is_needed = job.variant->recomputes && (a == LINREC_INPUTS || a == LINREC_OUTPUTS);
        if (is_needed ? a == LINREC_OUTPUTS : !is_read)
            memset(host.arrays[a], 0xFF, host.count * sizeof(float));
    }
}

static void run(struct placed *placed)
{
    (void)placed;
    if (job.num_pieces > 0)
        job.variant->run(&job);
}

/* Levels of addition beside the plain loop: 24 in chapter 08's scans, and a piece's state goes through one more
   addition in each of them, as any element does. */
enum { LEVELS = 24 };

static void check(struct placed *placed, const struct data *data, struct finding *finding)
{
    if (!job.variant->recomputes)
        placed->problem.operation->check(&placed->problem, data, LEVELS, finding);
    else if (!linrec_check_recomputed(&placed->problem, LEVELS, finding))
        need(cudaErrorMemoryAllocation, "no memory to check with");
}

static void count(struct placed *placed, uint64_t seed, const char *names, const char *label)
{
    double *const values = placed->values;
    if (host.count == 0)
        return;
    fill(placed, &(struct data){seed, DATA_NEAR_ONE});
    job.bytes_in = job.bytes_out = job.launches = 0;
#ifdef CUSIM
    sim_reset_counts();
#endif
    run(placed);
#ifdef CUSIM
    if (job.launches > 0)
        sim_trace(names, label);
#else
    (void)names, (void)label;
#endif
    values[LAUNCHES] = (double)job.launches;
    if (job.variant->memory == MANAGED) /* the system moves pages, and tells nobody */
        return;
    values[IN] = (double)job.bytes_in / placed->elements;
    values[OUT] = (double)job.bytes_out / placed->elements;
    values[DEVICE_MB] = (double)job.device_bytes * 1e-6;
}

/* The roof stands in the table before all that is measured against it. */
static void conclude(struct placed *placed)
{
    static struct problem of;
    static double roof;
    const struct problem *const problem = &placed->problem;
    if (job.variant->run == run_both_ways)
        of = *problem, roof = placed->values[MS];
    if (of.operation != NULL && of.direction == problem->direction &&
        memcmp(of.sizes, problem->sizes, sizeof of.sizes) == 0)
        placed->values[PERCENT_OF_ROOF] = 100.0 * roof / placed->values[MS];
}

/* ---- options ---- */

/* Bytes, with a K, M or G behind. */
static int read_memory(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    const char *const unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (*text < '0' || *text > '9' || number == 0 || number > SIZE_MAX >> 32 ||
        (*end != '\0' && (unit == NULL || end[1] != '\0')))
        return usage_error("--memory takes a number of bytes, as in 1000000, 512K, 64M or 8G");
    most_bytes = (size_t)number << (unit != NULL ? 10 * (unit - units + 1) : 0);
    return -1;
}

const struct placement stream_placement = {
    .launcher = "",
    .purpose =
        "Checks every variant of the recurrence of arrays in the host's memory against a loop in double precision, "
        "counts\nwhat is copied and, on a GPU, times it, and prints a table.",
    .options = {{"memory", "BYTES",
                 "of the device, which a variant may take (default: what is free); with K, M or G behind: 1024s",
                 read_memory},
                {"variant", "NAME[,NAME...]", "these variants only, see --list", NULL},
                {"repeats", "R", "timed runs per row, on a GPU", NULL},
                {"check-only", NULL, "check, do not count and time", NULL},
                {"list", NULL, "list the variants", NULL}},
    .piece = {"piece", "number of elements", "elements of an array that are on their way as one piece, at the most",
              .is_list = true},
#ifdef CUSIM
    .pieces = {1500},
#else
    .pieces = {1 << 18, 1 << 20, 1 << 22, 1 << 24},
#endif
    .repeats = 11,
    .large = 16384,
    .kinds_if_large = 1u << DATA_NEAR_ONE,
    .devices = "",
    .on_sim = "; nothing is timed there",
    .name_width = 14,
    .direction_width = 16,
    .num_keys = MS,
    .num_columns = NUM_COLUMNS,
    .columns = {[SEQS] = {"num_seqs", 8, 0, "num_seqs", 0},
                [LENGTH] = {"seq_len", 9, 0, "seq_len", 0},
                [PIECE] = {"piece", 9, 0, "piece", 0},
                [MS] = {"ms", 9, 3, "wall_ms", 4},
                [MS_P20] = {NULL, 0, 0, "wall_p20_ms", 4},
                [MS_P80] = {NULL, 0, 0, "wall_p80_ms", 4},
                [PERCENT_OF_ROOF] = {"% roof", 7, 1, "percent_of_roof", 4},
                [IN] = {"in_B/e", 7, 3, "in_bytes_per_element", 4},
                [OUT] = {"out_B/e", 7, 3, "out_bytes_per_element", 4},
                [LAUNCHES] = {"launches", 8, 0, "launches", 4},
                [DEVICE_MB] = {"device_MB", 9, 3, "device_mb", 4},
                [MAX_ERROR] = {"error", 7, 3, "max_error", 4}},
    .end = release_arrays,
    .need = need,
    .place = place,
    .release = release,
    .is_idle = is_idle,
    .fill = fill,
    .run = run,
    .check = check,
    .count = count,
    .conclude = conclude,
};
