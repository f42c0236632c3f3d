/* SPDX-License-Identifier: MIT */
/* layer_operation.c - the layer of Mamba-2 as an operation of the harness (common/harness/operation.h). */
#include <stdio.h>
#include <string.h>

#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../kernels/layer_kernels.h"
#include "layer_oracle.h"

/* ---- test data ---- */

static const char *kind_name(int kind)
{
    static const char *const names[NUM_LAYER_KINDS] = {"ordinary", "near one", "strong", "nonfinite"};
    return names[kind];
}

static bool is_packed(const struct problem *problem)
{
    return problem->operation != &layer_operation;
}

static struct layer_spec spec_of(const struct problem *problem, const struct data *data)
{
    struct layer_spec spec = {
        .seed = data->seed, .kind = data->kind, .packed = is_packed(problem), .softplus = problem->flags[DT_SOFTPLUS]};
    for (int s = 0; s < NUM_LAYER_SIZES; s++)
        spec.sizes[s] = problem->sizes[s];
    return spec;
}

static void fill(const struct problem *problem, const struct data *data)
{
    const struct layer_spec spec = spec_of(problem, data);
    for (int a = 0; a < problem->operation->num_arrays; a++) {
        const size_t count = array_count(&problem->operation->arrays[a], problem->sizes);
        for (size_t i = 0; i < count && array_is_read(problem, a); i++) {
            if (a == LAYER_STARTS)
                ((int *)problem->arrays[a])[i] = (int)layer_start(&spec, i);
            else
                array_set(problem, a, i, layer_value(&spec, a, i));
        }
    }
}

static cudaError_t device_fill(const struct problem *problem, const struct data *data)
{
    const struct layer_spec spec = spec_of(problem, data);
    cudaError_t error = cudaSuccess;
    for (int a = 0; a < problem->operation->num_arrays && error == cudaSuccess; a++) {
        const struct array *array = &problem->operation->arrays[a];
        if (array_is_read(problem, a))
            error = layer_fill_array(&spec, a, array_dtype(array, problem->dtype), problem->arrays[a],
                                     array_count(array, problem->sizes));
    }
    return error;
}

/* ---- the way to the kernels ---- */

static struct layer_args args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    const size_t *sizes = problem->sizes;
    return (struct layer_args){.batch = is_packed(problem) ? 1 : sizes[BATCH],
                               .num_seqs = is_packed(problem) ? sizes[NUM_SEQS] : 0,
                               .starts = is_packed(problem) ? arrays[LAYER_STARTS] : NULL,
                               .seq_len = sizes[SEQ_LEN],
                               .heads = sizes[HEADS],
                               .dk = sizes[DK],
                               .dv = sizes[DV],
                               .groups = sizes[GROUPS],
                               .dtype = problem->dtype,
                               .dt_softplus = problem->flags[DT_SOFTPLUS],
                               .config = problem->config,
                               .x = arrays[LAYER_X],
                               .z = arrays[LAYER_Z],
                               .dt = arrays[LAYER_DT],
                               .B = arrays[LAYER_B],
                               .C = arrays[LAYER_C],
                               .A = arrays[LAYER_A],
                               .D = arrays[LAYER_D],
                               .dt_bias = arrays[LAYER_DT_BIAS],
                               .initial_state = arrays[LAYER_INITIAL_STATE],
                               .out = arrays[LAYER_OUT],
                               .final_state = arrays[LAYER_FINAL_STATE],
                               .workspace = problem->workspace,
                               .workspace_size = problem->workspace_size};
}

static size_t max_dk(const struct layer_kernel *row)
{
    return row->max_dk != 0 ? row->max_dk : LAYER_MAX_DK;
}

static void describe(const void *which, struct kernel *kernel)
{
    const struct layer_kernel *row = which;
    kernel->runs[FORWARD] = true;
    int used = snprintf(kernel->limits, sizeof kernel->limits, "dk up to %zu", max_dk(row));
    if (row->dk_of != 0)
        used += snprintf(kernel->limits + used, sizeof kernel->limits - (size_t)used, ", of %zu", row->dk_of);
    if (row->dv_of != 0)
        snprintf(kernel->limits + used, sizeof kernel->limits - (size_t)used, ", dv of %zu", row->dv_of);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct layer_kernel *row = which;
    if (sizes[HEADS] != 0 && (sizes[GROUPS] == 0 || sizes[HEADS] % sizes[GROUPS] != 0))
        snprintf(why, size, "takes groups that divide the heads evenly, and %zu heads are not %zu equal groups",
                 sizes[HEADS], sizes[GROUPS]);
    else if (sizes[DK] < 1 || sizes[DK] > max_dk(row))
        snprintf(why, size, "takes 1 to %zu numbers in a row of the state (dk), not %zu", max_dk(row), sizes[DK]);
    else if (row->dk_of != 0 && sizes[DK] % row->dk_of != 0)
        snprintf(why, size, "takes a dk that is a multiple of %zu, not %zu", row->dk_of, sizes[DK]);
    else if (row->dv_of != 0 && sizes[DV] % row->dv_of != 0)
        snprintf(why, size, "takes a dv that is a multiple of %zu, not %zu", row->dv_of, sizes[DV]);
    else
        return false;
    return true;
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct layer_kernel *row = which;
    const struct layer_args args = args_of(problem);
    return row->forward(&args, stream);
}

static size_t workspace_size(const void *which, const struct problem *problem)
{
    const struct layer_kernel *row = which;
    const struct layer_args args = args_of(problem);
    return row->workspace_size != NULL ? row->workspace_size(&args) : 0;
}

/* Steps whose s A are added up before an exponential: what the bound hangs on. */
static int chunk_of(const void *which, const struct problem *problem)
{
    const struct layer_kernel *row = which;
    (void)problem;
    return (int)row->chunk;
}

/* ---- the oracle ---- */

static void check(const struct problem *problem, const struct data *data, int chunk, struct finding *finding)
{
    const struct layer_args args = args_of(problem);
    (void)data;
    for (size_t number = 0; number < layer_num_rows(&args); number++)
        layer_check_row(&args, (size_t)chunk, number, finding);
}

static cudaError_t device_check(const struct problem *problem, const struct data *data, int chunk,
                                struct finding *finding)
{
    const struct layer_args args = args_of(problem);
    return layer_device_check(&args, (size_t)chunk, data->seed, finding);
}

/* ---- shapes ---- */

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {
        {8, 4096, 32, 128, 64, 1}, {1, 32768, 32, 128, 64, 1}, {8, 2048, 16, 64, 64, 1}};
    static const size_t on_sim[][MAX_SIZES] = {{2, 5, 4, 3, 2, 2}, {1, 33, 2, 16, 8, 1}, {1, 70, 2, 37, 19, 1}};
    for (int i = 0; i < 3; i++)
        shapes_add(shapes, machine->backend == ON_CUDA ? on_gpu[i] : on_sim[i]);
}

#define ROWS .stored = true, .num_dims = 4, .dims = {BATCH, SEQ_LEN, HEADS, DV}
#define GROUP_ROWS .stored = true, .num_dims = 4, .dims = {BATCH, SEQ_LEN, GROUPS, DK}
#define EACH_HEAD .num_dims = 1, .dims = {HEADS}
#define STATES .num_dims = 4, .dims = {BATCH, HEADS, DV, DK}
#define OPTIONAL .optional = true

const struct operation layer_operation = {
    .name = "layer of Mamba-2",
    .asked_by = "operation",
    .asked_value = "layer",
    .also = "The program has two more operations: --seqs N or --starts S.npy asks for packed sequences, and\n"
            "--operation product for the product of two matrices. --help beside one of them says what that takes.",
    .num_sizes = NUM_LAYER_SIZES,
    .sizes = {[BATCH] = {"batch", "batch", "sequences", .is_list = false},
              [SEQ_LEN] = {"seq_len", "length", "steps of a sequence", .is_list = true},
              [HEADS] = {"heads", "number of heads", "heads, each with a state", .is_list = false},
              [DK] = {"dk", "dk", "columns of a state: the length of B and C", .is_list = false},
              [DV] = {"dv", "dv", "rows of a state: the width of a head in x", .is_list = false},
              [GROUPS] = {"groups", "number of groups", "groups of heads that share B and C", .is_list = false}},
    .num_flags = 1,
    .flags = {[DT_SOFTPLUS] = {"dt_softplus", "a step lasts softplus(dt + dt_bias)", .timed = false}},
    .num_arrays = NUM_LAYER_ARRAYS,
    .arrays = {[LAYER_X] = {"x", "X", READ, UNTOUCHED, ROWS},
               [LAYER_Z] = {"z", "Z", READ, UNTOUCHED, OPTIONAL, ROWS},
               [LAYER_DT] = {"dt", "DT", READ, UNTOUCHED, .stored = true, .num_dims = 3,
                             .dims = {BATCH, SEQ_LEN, HEADS}},
               [LAYER_A] = {"A", "A", READ, UNTOUCHED, EACH_HEAD},
               [LAYER_B] = {"B", "B", READ, UNTOUCHED, GROUP_ROWS},
               [LAYER_C] = {"C", "C", READ, UNTOUCHED, GROUP_ROWS},
               [LAYER_D] = {"D", "D", READ, UNTOUCHED, OPTIONAL, .timed = true, EACH_HEAD},
               [LAYER_DT_BIAS] = {"dt_bias", "BIAS", READ, UNTOUCHED, OPTIONAL, EACH_HEAD},
               [LAYER_INITIAL_STATE] = {"initial_state", "H0", READ, UNTOUCHED, OPTIONAL, STATES},
               [LAYER_OUT] = {"out", "OUT", WRITTEN, UNTOUCHED, ROWS},
               [LAYER_FINAL_STATE] = {"final_state", "H", WRITTEN, UNTOUCHED, OPTIONAL, STATES}},
    .default_shapes = default_shapes,
    .filled = "data",
    .num_kinds = NUM_LAYER_KINDS,
    .timed_kind = LAYER_ORDINARY,
    .hardest_kind = LAYER_NEAR_ONE,
    .kind_name = kind_name,
    .fill = fill,
    .device_fill = device_fill,
    .check = check,
    .device_check = device_check,
    .device_samples = true,
    .copy = {{COPY, {LAYER_X, LAYER_OUT}}},
    .row_bytes = sizeof(struct layer_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
    .workspace_size = workspace_size,
    .levels = chunk_of,
};

/* ---- packed sequences ---- */

static bool packed_refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    if (refuses(which, sizes, why, size))
        return true;
    if (sizes[NUM_SEQS] != 0 || sizes[SEQ_LEN] == 0)
        return false;
    snprintf(why, size, "takes at least one sequence where there are steps");
    return true;
}

static void packed_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[MAX_SIZES] = {16, 32768, 32, 128, 64, 1}, on_sim[MAX_SIZES] = {5, 140, 2, 16, 8, 1};
    shapes_add(shapes, machine->backend == ON_CUDA ? on_gpu : on_sim);
}

const struct operation *layer_packed_operation(void)
{
    static struct operation packed;
    packed = layer_operation;
    packed.name = "layer of Mamba-2, packed sequences";
    packed.also = NULL;
    packed.sizes[NUM_SEQS] = (struct size){"seqs", "number of sequences", "sequences, one after the other", false};
    packed.sizes[SEQ_LEN].help = "steps of all sequences together";
    packed.default_shapes = packed_shapes;
    packed.refuses = packed_refuses;
    for (int a = 0; a < NUM_LAYER_ARRAYS; a++) { /* what has a row for each step has no batch */
        struct array *const array = &packed.arrays[a];
        if (array->num_dims > 1 && array->dims[1] == SEQ_LEN)
            memmove(array->dims, array->dims + 1, (size_t)--array->num_dims * sizeof *array->dims);
    }
    packed.arrays[LAYER_STARTS] = (struct array){"starts",         "STARTS",   READ,          UNTOUCHED,
                                                 .integers = true, .extra = 1, .num_dims = 1, .dims = {NUM_SEQS}};
    packed.num_arrays = NUM_LAYER_ARRAYS + 1;
    return &packed;
}
