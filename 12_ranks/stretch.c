/* SPDX-License-Identifier: MIT */
/* stretch.c - the placement of chapter 12's arrays: cut over the ranks. What the harness asks of a placement is in
   placement.h. What the sequences hold is a function of seed and position (linrec_data.h), so every rank makes its own
   stretch of them, and the element on each side of it that its neighbours have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/linrec/linrec_oracle.h"
#include "ranks.h"
#ifdef CUSIM
#include "../cusim/counts.h"
#endif

enum { NUM_ARRAYS = LINREC_INITIAL_STATE }; /* all but the states */

/* The columns. */
enum { RANKS, SEQS, LENGTH, MS, MS_P20, MS_P80, BYTES_099, BYTES_ONE, MESSAGE_BYTES, MAX_ERROR, NUM_COLUMNS };

static struct part part;         /* of the variant that is run */
static float *host[NUM_ARRAYS];  /* what the pass reads: of each sequence `wide` elements */
static size_t left, right, wide; /* elements on the two sides of the stretch, 0 or 1; and with them */

static bool place(struct placed *placed)
{
    const struct problem *const problem = &placed->problem;
    const size_t num_seqs = problem->sizes[NUM_SEQS], seq_len = problem->sizes[SEQ_LEN];
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    part = part_create(problem);
    left = part.begin > 0;
    right = part.begin + part.args.seq_len < seq_len;
    wide = left + part.args.seq_len + right;
    memcpy(placed->problem.arrays, part.problem.arrays, sizeof part.problem.arrays);
    snprintf(placed->where, sizeof placed->where, " on %d ranks, rank %d", ranks, rank);
    placed->values[RANKS] = ranks;
    placed->values[SEQS] = (double)num_seqs;
    placed->values[LENGTH] = (double)seq_len;
    return true;
}

static void release(struct placed *placed)
{
    (void)placed;
    for (int a = 0; a < NUM_ARRAYS; a++) {
        free(host[a]);
        host[a] = NULL;
    }
    part_free(&part);
}

/* ---- test data ---- */

const char *ranks_kind_name(int kind)
{
    static const char *const names[] = {"c = 0.99", "c = 1", "fading"};
    return kind < KIND_099 ? data_kind_name((enum data_kind)kind) : names[kind - KIND_099];
}

/* Element (seq, position) of the whole. Fading: nothing but the scan's first input, which coefficients of 0.99 carry
   on, so that what leaves a stretch is far smaller than what came in. */
static float value(const struct data_spec *spec, int kind, enum data_array array, size_t seq, size_t position)
{
    const bool is_first = position == (spec->reverse != spec->backward ? spec->seq_len - 1 : 0);
    if (array == DATA_COEFFS && kind >= KIND_099)
        return kind == KIND_ONE ? 1.0f : 0.99f;
    if (kind == KIND_FADING && (array == DATA_INPUTS || array == DATA_D_OUTPUTS))
        return is_first ? 1.0f : 0.0f;
    return data_value(spec, array, seq, position);
}

static float *host_array(size_t count)
{
    float *const values = malloc(count * sizeof *values);
    ranks_need(values == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no host memory to check with");
    return values;
}

static enum role role_of(const struct problem *problem, int a)
{
    return problem->arrays[a] != NULL ? array_role(&problem->operation->arrays[a], problem->direction) : UNTOUCHED;
}

static void fill(struct placed *placed, const struct data *data)
{
    const struct problem *const problem = &placed->problem;
    const size_t length = part.args.seq_len, bytes = length * sizeof(float);
    const enum data_kind kind = data->kind < KIND_099 ? (enum data_kind)data->kind : DATA_UNIFORM;
    const struct data_spec spec = {data->seed, kind,         problem->sizes[SEQ_LEN], is_reversed(problem->direction),
                                   0,          part.backward};
    for (int a = 0; a < NUM_ARRAYS; a++) {
        if (role_of(problem, a) == WRITTEN)
            ranks_need(cudaMemset(problem->arrays[a], 0xFF, part.args.num_seqs * bytes), "no NaN");
        if (role_of(problem, a) != READ)
            continue;
        if (host[a] == NULL)
            host[a] = host_array(part.args.num_seqs * wide);
        for (size_t s = 0; s < part.args.num_seqs; s++)
            for (size_t l = 0; l < wide; l++)
                host[a][s * wide + l] = value(&spec, data->kind, linrec_contents[a], s, part.begin - left + l);
        ranks_need(cudaMemcpy2D(problem->arrays[a], bytes, host[a] + left, wide * sizeof(float), bytes,
                                part.args.num_seqs, cudaMemcpyHostToDevice),
                   "no data");
    }
}

/* ---- the oracle ---- */

/* Levels of addition beside the plain loop: 24 in chapter 08's scans, as many in aggregates.cu, which has a tile's
   levels and the tiles', and for each rank one where aggregates are joined, and one for what forget may leave out. */
static int levels(void)
{
    return 48 + 2 * part.ranks;
}

/* The stretch of one sequence, as a piece of a sequence that begins and ends with the neighbours' elements. */
static void check_seq(const struct linrec_args *args, size_t seq, size_t whole_len, float *const results[],
                      struct oracle_state *state, struct finding *finding)
{
    const size_t before = part.args.reverse != part.backward ? right : left;
    for (size_t step = before; step < before + part.args.seq_len; step++) {
        const struct oracle_point point = oracle_advance(state, args, part.backward, seq, step, step == 0, levels());
        const size_t l = point.pos - left, own = seq * part.args.seq_len + l, index = seq * whole_len + part.begin + l;
        if (!part.backward) {
            finding_add(finding, LINREC_OUTPUTS, index, results[LINREC_OUTPUTS][own], point.expected, point.bound);
            continue;
        }
        finding_add(finding, LINREC_D_INPUTS, index, results[LINREC_D_INPUTS][own], point.expected, point.bound);
        finding_add(finding, LINREC_D_COEFFS, index, results[LINREC_D_COEFFS][own], point.coeff_expected,
                    point.coeff_bound);
    }
}

/* Compares the stretch with the loop in double precision, which runs over all ranks, one after the other: each hands on
   the loop's state. */
static void check(struct placed *placed, const struct data *data, struct finding *finding)
{
    const struct problem *const problem = &placed->problem;
    const size_t count = part.args.num_seqs * part.args.seq_len;
    const int doubles = (int)(part.args.num_seqs * sizeof(struct oracle_state) / sizeof(double));
    const struct linrec_args args = {.num_seqs = part.args.num_seqs,
                                     .seq_len = wide,
                                     .reverse = part.args.reverse,
                                     .inputs = host[LINREC_INPUTS],
                                     .coeffs = host[LINREC_COEFFS],
                                     .outputs = host[LINREC_OUTPUTS],
                                     .d_outputs = host[LINREC_D_OUTPUTS]};
    float *results[NUM_ARRAYS] = {NULL};
    (void)data;
    if (part.comm == MPI_COMM_NULL)
        return;
    struct oracle_state *const states = calloc(part.args.num_seqs, sizeof *states);
    ranks_need(states == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no host memory to check with");
    for (int a = 0; a < NUM_ARRAYS; a++)
        if (role_of(problem, a) == WRITTEN) {
            results[a] = host_array(count);
            ranks_need(cudaMemcpy(results[a], problem->arrays[a], count * sizeof(float), cudaMemcpyDeviceToHost),
                       "a kernel failed");
        }
    if (part.rank > 0)
        MPI_Recv(states, doubles, MPI_DOUBLE, part.rank - 1, 1, part.comm, MPI_STATUS_IGNORE);
    for (size_t s = 0; s < part.args.num_seqs; s++)
        check_seq(&args, s, problem->sizes[SEQ_LEN], results, &states[s], finding);
    if (part.rank < part.ranks - 1)
        MPI_Send(states, doubles, MPI_DOUBLE, part.rank + 1, 1, part.comm);
    for (int a = 0; a < NUM_ARRAYS; a++)
        free(results[a]);
    free(states);
}

/* ---- runs and counts ---- */

static double largest(double mine)
{
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return mine;
}

static void run(struct placed *placed)
{
    const struct variant *const variant = placed->kernel;
    if (part.comm != MPI_COMM_NULL)
        variant->run(&part);
    ranks_need(cudaDeviceSynchronize(), "a kernel failed");
}

/* With c = 1 and with c = 0.99: the bytes that the device moves for an element, where something counts them; and those
   that are handed to MPI for a sequence. */
static void count(struct placed *placed, uint64_t seed, const char *names, const char *label)
{
    const size_t num_seqs = placed->problem.sizes[NUM_SEQS];
    for (int kind = KIND_ONE; kind >= KIND_099; kind--) {
        fill(placed, &(struct data){seed, kind});
        messages = (struct messages){0, 0};
#ifdef CUSIM
        sim_reset_counts();
#endif
        run(placed);
        placed->values[MESSAGE_BYTES] = num_seqs > 0 ? (double)messages.bytes / (double)num_seqs : 0.0;
#ifdef CUSIM
        const struct sim_counts counts = sim_get_counts();
        const double elements = (double)part.args.num_seqs * (double)part.args.seq_len;
        const double bytes = elements > 0 ? (double)(counts.loads.bytes + counts.stores.bytes) / elements : 0.0;
        if (kind == KIND_099)
            sim_trace(names, label);
        placed->values[kind == KIND_099 ? BYTES_099 : BYTES_ONE] = largest(bytes);
#else
        (void)names, (void)label;
#endif
    }
    placed->values[MESSAGE_BYTES] = largest(placed->values[MESSAGE_BYTES]);
}

const struct placement ranks_placement = {
    .launcher = "mpirun -n RANKS ",
    .purpose =
        "Runs sequences that are cut over the ranks: checks every variant against a loop in double precision, counts "
        "and times it,\nand prints a table.",
    .options = {{"timeout", "SECONDS", "how long a rank waits for the others before it ends the job (default: 300)",
                 ranks_read_timeout},
                {"variant", "NAME[,NAME...]", "these variants only, see --list", NULL},
                {"repeats", "R", "timed runs per row", NULL},
                {"check-only", NULL, "check, do not count and time", NULL},
                {"list", NULL, "list the variants", NULL}},
#ifdef CUSIM
    .repeats = 1,
#else
    .repeats = 25,
#endif
    .large = 16384,
    .kinds_if_large = 1u << DATA_NEAR_ONE | 1u << KIND_099 | 1u << KIND_ONE | 1u << KIND_FADING,
    .on_sim = "; ms: of the simulator, by the clock, and of no GPU",
    .timed_on_sim = true,
    .name_width = 10,
    .direction_width = 17,
    .num_keys = MS,
    .num_columns = NUM_COLUMNS,
    .columns = {[RANKS] = {"ranks", 5, 0, "ranks", 0},
                [SEQS] = {"num_seqs", 8, 0, "num_seqs", 0},
                [LENGTH] = {"seq_len", 9, 0, "seq_len", 0},
                [MS] = {"ms", 10, 3, "wall_ms", 4},
                [MS_P20] = {NULL, 0, 0, "wall_p20_ms", 4},
                [MS_P80] = {NULL, 0, 0, "wall_p80_ms", 4},
                [BYTES_099] = {"B/el.(.99)", 10, 3, "bytes_per_element", 4},
                [BYTES_ONE] = {"B/el.(1)", 8, 3, "bytes_per_element_c1", 4},
                [MESSAGE_BYTES] = {"B/message", 9, 1, "message_bytes", 4},
                [MAX_ERROR] = {"error", 7, 3, "max_error", 4}},
    .begin = ranks_begin,
    .end = ranks_end,
    .need = ranks_need,
    .largest = largest,
    .place = place,
    .release = release,
    .fill = fill,
    .run = run,
    .check = check,
    .count = count,
};
