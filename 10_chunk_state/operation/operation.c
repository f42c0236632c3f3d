/* SPDX-License-Identifier: MIT */
/* operation.c - the chunk states as an operation of the harness (common/harness/operation.h). */
#include <stdio.h>
#include <stdlib.h>

#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../kernels/kernels.h"
#include "oracle.h"

enum { EXCLUSIVE };

/* ---- test data ---- */

static const char *kind_name(int kind)
{
    static const char *const names[CHUNK_NUM_KINDS] = {"uniform", "near one", "signed", "strong", "nonfinite"};
    return names[kind];
}

/* Packed sequences are an operation with one array more. */
static bool is_packed(const struct problem *problem)
{
    return problem->operation->num_arrays > STARTS;
}

static struct chunk_spec spec_of(const struct problem *problem, const struct data *data)
{
    return chunk_spec(problem->sizes, is_packed(problem), is_backward(problem->direction), data->seed, data->kind);
}

static void fill(const struct problem *problem, const struct data *data)
{
    const struct chunk_spec spec = spec_of(problem, data);
    for (int a = 0; a < problem->operation->num_arrays; a++) {
        const struct array *array = &problem->operation->arrays[a];
        const size_t count = array_count(array, problem->sizes);
        if (array_role(array, problem->direction) == READ && problem->arrays[a] != NULL)
            for (size_t i = 0; i < count; i++)
                array_set(problem, a, i, chunk_value(&spec, a, i));
    }
}

static cudaError_t device_fill(const struct problem *problem, const struct data *data)
{
    const struct chunk_spec spec = spec_of(problem, data);
    cudaError_t error = cudaSuccess;
    for (int a = 0; a < problem->operation->num_arrays && error == cudaSuccess; a++) {
        const struct array *array = &problem->operation->arrays[a];
        if (array_role(array, problem->direction) == READ && problem->arrays[a] != NULL)
            error = chunk_fill_array(&spec, a, array_dtype(array, problem->dtype), problem->arrays[a],
                                     array_count(array, problem->sizes));
    }
    return error;
}

/* ---- the way to the kernels ---- */

static struct chunk_state_args args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    const size_t *sizes = problem->sizes;
    return (struct chunk_state_args){
        .batch = is_packed(problem) ? 1 : sizes[BATCH],
        .num_seqs = is_packed(problem) ? sizes[NUM_SEQS] : 0,
        .starts = is_packed(problem) ? arrays[STARTS] : NULL,
        .chunks = sizes[CHUNKS],
        .heads = sizes[HEADS],
        .dk = sizes[DK],
        .dv = sizes[DV],
        .rank = arrays[W_] != NULL ? sizes[RANK] : 0,
        .decays = sizes[DECAYS],
        .dtype = problem->dtype,
        .exclusive = problem->flags[EXCLUSIVE],
        .config = problem->config,
        .h_local = arrays[H_LOCAL],
        .gamma = arrays[GAMMA],
        .W = arrays[W_],
        .Y = arrays[Y_],
        .initial_state = arrays[INITIAL_STATE],
        .h_out = arrays[H_OUT],
        .final_state = arrays[FINAL_STATE],
        .states = arrays[STATES],
        .d_h_out = arrays[D_H_OUT],
        .d_final_state = arrays[D_FINAL_STATE],
        .d_h_local = arrays[D_H_LOCAL],
        .d_gamma = arrays[D_GAMMA],
        .d_W = arrays[D_W],
        .d_Y = arrays[D_Y],
        .d_initial_state = arrays[D_INITIAL_STATE],
        .workspace = problem->workspace,
        .workspace_size = problem->workspace_size,
    };
}

static void describe(const void *which, struct kernel *kernel)
{
    const struct chunk_state_kernel *row = which;
    kernel->runs[FORWARD] = row->forward != NULL;
    kernel->runs[BACKWARD] = row->backward != NULL;
    if (row->max_rank != 0)
        snprintf(kernel->limits, sizeof kernel->limits, "rank up to %zu", row->max_rank);
    else
        snprintf(kernel->limits, sizeof kernel->limits,
                 row->columns_of != 0 ? "rank 0, dv a multiple of %zu" : "rank 0", row->columns_of);
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct chunk_state_kernel *row = which;
    const struct chunk_state_args args = args_of(problem);
    return (is_backward(problem->direction) ? row->backward : row->forward)(&args, stream);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct chunk_state_kernel *row = which;
    if (sizes[DECAYS] != 1 && sizes[DECAYS] != sizes[DK])
        snprintf(why, size, "takes one decay for each of the %zu rows, or 1, not %zu", sizes[DK], sizes[DECAYS]);
    else if (sizes[RANK] > row->max_rank)
        snprintf(why, size, "takes a rank of up to %zu, not %zu", row->max_rank, sizes[RANK]);
    else if (sizes[RANK] != 0 && sizes[DK] > CHUNK_STATE_MAX_ROWS)
        snprintf(why, size, "takes up to %d rows with a rank, not %zu", CHUNK_STATE_MAX_ROWS, sizes[DK]);
    else if (row->max_rows != 0 && sizes[DK] > row->max_rows)
        snprintf(why, size, "takes up to %zu rows, not %zu", row->max_rows, sizes[DK]);
    else if (row->columns_of != 0 && sizes[DV] % row->columns_of != 0)
        snprintf(why, size, "takes multiples of %zu columns, not %zu", row->columns_of, sizes[DV]);
    else
        return false;
    return true;
}

static size_t workspace_size(const void *which, const struct problem *problem)
{
    const struct chunk_state_kernel *row = which;
    const struct chunk_state_args args = args_of(problem);
    return row->workspace_size != NULL ? row->workspace_size(&args, is_backward(problem->direction)) : 0;
}

/* 1 is a plain loop's. The joins of the kernels that split time add to it: a term passes a segment's own sum, up to as
   many joins as there are segments, and the state that comes in. With W and Y: how sums are taken. Kernels that take W
   and Y round states, and default takes no other ones for packed sequences (oracle.h). */
static int levels(const void *which, const struct problem *problem)
{
    const struct chunk_state_kernel *row = which;
    const struct chunk_state_args args = args_of(problem);
    const int rounded = args.rank != 0 || args.starts != NULL || row->rounds_states ? CHUNK_ROUNDED_STATES : 0;
    if (args.rank == 0)
        return (row->joins && args.starts == NULL ? 10 : 1) + rounded;
    return (row->tensor_cores != NULL && row->tensor_cores(&args, is_backward(problem->direction)) ? CHUNK_TENSOR_SUMS
                                                                                                   : CHUNK_SUMS) +
           rounded;
}

/* ---- the oracle ---- */

static void check(const struct problem *problem, const struct data *data, int num_levels, struct finding *finding)
{
    const bool backward = is_backward(problem->direction);
    const struct chunk_state_args all = args_of(problem);
    struct chunk_oracle oracle = chunk_oracle_of(&all, backward, num_levels);
    const struct chunk_state_args *args = &oracle.args;
    const size_t sums = backward ? chunk_num_sums(args) : 0;
    (void)data;
    oracle.count = 1;
    oracle.work = malloc((chunk_oracle_slots(args, backward) + 1) * sizeof(double));
    oracle.sum = calloc(2 * sums + 1, sizeof(double));
    oracle.bound = oracle.sum + sums;
    if (oracle.work == NULL || oracle.sum == NULL) {
        finding_add(finding, backward ? D_H_LOCAL : H_OUT, 0, NAN, 0.0, 0.0);
    } else {
        for (size_t number = 0; number < chunk_num_columns(args); number++) {
            const struct chunk_column column = chunk_column_of(&oracle, number, 0);
            if (backward)
                chunk_check_backward(&column, finding);
            else
                chunk_check_forward(&column, finding);
        }
        for (size_t i = 0; i < sums; i++)
            chunk_check_sum(&oracle, i, finding);
    }
    free(oracle.work);
    free(oracle.sum);
}

static cudaError_t device_check(const struct problem *problem, const struct data *data, int num_levels,
                                struct finding *finding)
{
    const struct chunk_state_args args = args_of(problem);
    (void)data;
    return chunk_device_check(&args, is_backward(problem->direction), num_levels, finding);
}

/* Backward needs the states; with them h_local and initial_state stay unread. */
static double bytes(const struct problem *problem)
{
    struct problem moved = *problem;
    if (is_backward(problem->direction) && problem->arrays[STATES] != NULL)
        moved.arrays[H_LOCAL] = moved.arrays[INITIAL_STATE] = NULL;
    double sum = 0.0;
    for (int a = 0; a < problem->operation->num_arrays; a++)
        if (moved.arrays[a] != NULL)
            sum += (double)array_count(&problem->operation->arrays[a], problem->sizes) *
                   (double)array_element_bytes(&problem->operation->arrays[a], problem->dtype);
    return sum;
}

/* ---- shapes ---- */

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {
        {4, 64, 16, 64, 64, 0, 64}, {8, 128, 32, 64, 64, 0, 64}, {1, 512, 4, 64, 64, 0, 64},  {4, 64, 16, 64, 64, 0, 1},
        {4, 64, 16, 64, 64, 4, 64}, {4, 64, 16, 64, 64, 16, 1},  {4, 64, 16, 64, 64, 64, 64},
    };
    static const size_t on_sim[][MAX_SIZES] = {
        {1, 1, 1, 1, 1, 0, 1}, {2, 19, 2, 3, 8, 0, 3},   {1, 9, 2, 16, 24, 0, 1},
        {2, 5, 1, 2, 5, 0, 2}, {1, 5, 2, 17, 12, 4, 17},
    };
    const bool gpu = machine->backend == ON_CUDA;
    for (size_t i = 0; i < (gpu ? sizeof on_gpu / sizeof *on_gpu : sizeof on_sim / sizeof *on_sim); i++)
        shapes_add(shapes, gpu ? on_gpu[i] : on_sim[i]);
}

/* A shape of the defaults with other rows has as many decays as these, if it had one for each. */
static void settle(size_t sizes[MAX_SIZES], const bool given[MAX_SIZES])
{
    if (!given[DECAYS] && sizes[DECAYS] != 1)
        sizes[DECAYS] = sizes[DK];
}

#define STATE_OF_ALL .stored = true, .num_dims = 5, .dims = {BATCH, CHUNKS, HEADS, DK, DV}
#define STATE_OF_ONE .num_dims = 4, .dims = {BATCH, HEADS, DK, DV}
#define DECAYS_OF_ALL .num_dims = 4, .dims = {BATCH, CHUNKS, HEADS, DECAYS}
#define RANKS_OF_ALL .stored = true, .num_dims = 5, .dims = {BATCH, CHUNKS, HEADS, DK, RANK}
#define OPTIONAL .optional = true

const struct operation chunk_state_operation = {
    .name = "chunk states",
    .also =
        "The program has two more operations: --seqs N or --starts S.npy asks for packed sequences, --step for one\n"
        "position of a layer. --help beside one of these lists its options.\n",
    .num_sizes = 7,
    .sizes = {[BATCH] = {"batch", "batch", "batches", .is_list = false},
              [CHUNKS] = {"chunks", "number of chunks", "chunks of each batch", .is_list = true},
              [HEADS] = {"heads", "number of heads", "heads", .is_list = false},
              [DK] = {"dk", "number of rows", "rows of a state", .is_list = false},
              [DV] = {"dv", "number of columns", "columns of a state", .is_list = false},
              [RANK] = {"rank", "rank", "columns of W and Y", .is_list = false},
              [DECAYS] = {"decays", "number of decays", "decays of a state: dk or 1", .is_list = false}},
    .num_flags = 1,
    .flags = {[EXCLUSIVE] = {"exclusive", "h_out is the state before each chunk", .timed = false}},
    .num_arrays = NUM_CHUNK_ARRAYS,
    .arrays = {[H_LOCAL] = {"h_local", "X", READ, READ, STATE_OF_ALL},
               [GAMMA] = {"gamma", "G", READ, READ, DECAYS_OF_ALL},
               [W_] = {"W", "W", READ, READ, OPTIONAL, .timed = true, RANKS_OF_ALL},
               [Y_] = {"Y", "Y", READ, READ, .goes_with = "W", RANKS_OF_ALL},
               [INITIAL_STATE] = {"initial_state", "I", READ, READ, OPTIONAL, STATE_OF_ONE},
               [H_OUT] = {"h_out", "H", WRITTEN, UNTOUCHED, STATE_OF_ALL},
               [FINAL_STATE] = {"final_state", "F", WRITTEN, UNTOUCHED, OPTIONAL, STATE_OF_ONE},
               [STATES] = {"states", "S", UNTOUCHED, READ, OPTIONAL, .timed = true, STATE_OF_ALL},
               [D_H_OUT] = {"d_h_out", "DH", UNTOUCHED, READ, STATE_OF_ALL},
               [D_FINAL_STATE] = {"d_final_state", "DF", UNTOUCHED, READ, OPTIONAL, STATE_OF_ONE},
               [D_H_LOCAL] = {"d_h_local", "DX", UNTOUCHED, WRITTEN, STATE_OF_ALL},
               [D_GAMMA] = {"d_gamma", "DG", UNTOUCHED, WRITTEN, DECAYS_OF_ALL},
               [D_W] = {"d_W", "DW", UNTOUCHED, WRITTEN, .goes_with = "W", RANKS_OF_ALL},
               [D_Y] = {"d_Y", "DY", UNTOUCHED, WRITTEN, .goes_with = "W", RANKS_OF_ALL},
               [D_INITIAL_STATE] = {"d_initial_state", "DI", UNTOUCHED, WRITTEN, OPTIONAL, STATE_OF_ONE}},
    .default_shapes = default_shapes,
    .settle = settle,
    .filled = "decays",
    .num_kinds = CHUNK_NUM_KINDS,
    .timed_kind = CHUNK_UNIFORM,
    .hardest_kind = CHUNK_NEAR_ONE,
    .kind_name = kind_name,
    .fill = fill,
    .device_fill = device_fill,
    .check = check,
    .device_check = device_check,
    .bytes = bytes,
    .copy = {{COPY, {H_LOCAL, H_OUT}}, {COPY, {D_H_OUT, D_H_LOCAL}}},
    .add = {[1] = {ADD, {STATES, D_H_OUT, D_H_LOCAL}}},
    .row_bytes = sizeof(struct chunk_state_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
    .workspace_size = workspace_size,
    .levels = levels,
};

/* ---- packed sequences ---- */

static void packed_describe(const void *which, struct kernel *kernel)
{
    const struct chunk_state_kernel *row = which;
    describe(which, kernel);
    kernel->runs[FORWARD] = row->max_rank != 0 && row->forward != NULL;
    kernel->runs[BACKWARD] = row->max_rank != 0 && row->backward != NULL;
}

static bool packed_refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    if (refuses(which, sizes, why, size))
        return true;
    if (sizes[DK] > CHUNK_STATE_MAX_ROWS)
        snprintf(why, size, "takes up to %d rows of packed sequences, not %zu", CHUNK_STATE_MAX_ROWS, sizes[DK]);
    else if (sizes[NUM_SEQS] == 0 && sizes[CHUNKS] != 0)
        snprintf(why, size, "takes at least one sequence where there are chunks");
    else
        return false;
    return true;
}

static void packed_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {{16, 256, 16, 64, 64, 0, 64}, {16, 256, 16, 64, 64, 16, 64}};
    static const size_t on_sim[][MAX_SIZES] = {
        {5, 23, 2, 3, 8, 0, 3}, {4, 9, 1, 17, 36, 0, 1}, {4, 11, 2, 5, 12, 9, 1}};
    const bool gpu = machine->backend == ON_CUDA;
    for (int i = 0; i < (gpu ? 2 : 3); i++)
        shapes_add(shapes, gpu ? on_gpu[i] : on_sim[i]);
}

const struct operation *chunk_state_packed_operation(void)
{
    static struct operation packed;
    operation_pack(&packed, &chunk_state_operation, CHUNKS);
    packed.name = "chunk states, packed sequences";
    packed.also = NULL;
    packed.sizes[NUM_SEQS] = (struct size){"seqs", "number of sequences", "sequences, one after the other", false};
    packed.sizes[CHUNKS].help = "chunks of all sequences together";
    packed.default_shapes = packed_shapes;
    packed.describe = packed_describe;
    packed.refuses = packed_refuses;
    return &packed;
}
