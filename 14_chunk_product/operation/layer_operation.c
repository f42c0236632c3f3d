/* SPDX-License-Identifier: MIT */
/* layer_operation.c - the layer of Mamba-2 as an operation of the harness (common/harness/operation.h). */
#include <stdio.h>

#include "../../common/harness/arrays.h"
#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../kernels/layer_kernels.h"
#include "layer_backward_oracle.h"
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

static struct layer_backward_args backward_args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    return (struct layer_backward_args){.layer = args_of(problem),
                                        .d_out = arrays[LAYER_D_OUT],
                                        .d_final_state = arrays[LAYER_D_FINAL_STATE],
                                        .d_x = arrays[LAYER_D_X],
                                        .d_z = arrays[LAYER_D_Z],
                                        .d_dt = arrays[LAYER_D_DT],
                                        .d_B = arrays[LAYER_D_B],
                                        .d_C = arrays[LAYER_D_C],
                                        .d_A = arrays[LAYER_D_A],
                                        .d_D = arrays[LAYER_D_D],
                                        .d_dt_bias = arrays[LAYER_D_DT_BIAS],
                                        .d_initial_state = arrays[LAYER_D_INITIAL_STATE]};
}

static size_t max_dk(const struct layer_kernel *row)
{
    return row->max_dk != 0 ? row->max_dk : LAYER_MAX_DK;
}

static void describe(const void *which, struct kernel *kernel)
{
    const struct layer_kernel *row = which;
    kernel->runs[FORWARD] = row->forward != NULL;
    kernel->runs[BACKWARD] = row->backward != NULL;
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
    const struct layer_backward_args args = backward_args_of(problem);
    return is_backward(problem->direction) ? row->backward(&args, stream) : row->forward(&args.layer, stream);
}

static size_t workspace_size(const void *which, const struct problem *problem)
{
    const struct layer_kernel *row = which;
    const struct layer_args args = args_of(problem);
    size_t (*const size)(const struct layer_args *) =
        is_backward(problem->direction) ? row->backward_workspace_size : row->workspace_size;
    return size != NULL ? size(&args) : 0;
}

/* Steps whose s A are added up before an exponential: what the bound hangs on. */
static int chunk_of(const void *which, const struct problem *problem)
{
    const struct layer_kernel *row = which;
    (void)problem;
    return (int)row->chunk;
}

/* ---- the oracle ---- */

/* Backward; `problem` is on the host. */
static void check_backward(const struct problem *problem, const struct data *data, int chunk, bool whole,
                           struct finding *finding)
{
    const struct layer_backward_args args = backward_args_of(problem);
    if (!layer_check_backward(&args, (size_t)chunk, whole, data->seed, finding))
        finding_add(finding, LAYER_D_X, 0, NAN, 0.0, 0.0);
}

static void check(const struct problem *problem, const struct data *data, int chunk, struct finding *finding)
{
    const struct layer_args args = args_of(problem);
    if (is_backward(problem->direction)) {
        check_backward(problem, data, chunk, true, finding);
        return;
    }
    for (size_t number = 0; number < layer_num_rows(&args); number++)
        layer_check_row(&args, (size_t)chunk, number, finding);
}

/* Backward a number of the state goes through time twice, and its states are kept meanwhile: there the arrays come to
   the host, and of large ones samples are compared. */
static cudaError_t device_check(const struct problem *problem, const struct data *data, int chunk,
                                struct finding *finding)
{
    const struct layer_args args = args_of(problem);
    struct finding found = FINDING_NOTHING;
    struct problem host;
    if (!is_backward(problem->direction))
        return layer_device_check(&args, (size_t)chunk, data->seed, finding);
    const bool copied = host_copy(&host, problem, 0, problem->sizes[BATCH]);
    if (copied)
        check_backward(&host, data, chunk, problem_count(problem) <= (size_t)1 << 16, &found);
    host_free(&host);
    return copied ? cudaMemcpy(finding, &found, sizeof found, cudaMemcpyHostToDevice) : cudaErrorMemoryAllocation;
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
#define EACH_STEP .stored = true, .num_dims = 3, .dims = {BATCH, SEQ_LEN, HEADS}
#define EACH_HEAD .num_dims = 1, .dims = {HEADS}
#define STATES .num_dims = 4, .dims = {BATCH, HEADS, DV, DK}
#define OPTIONAL .optional = true

const struct operation layer_operation = {
    .name = "layer of Mamba-2",
    .asked_by = "operation",
    .asked_value = "layer",
    .also = "The program has two more operations: --seqs N or --starts S.npy asks for packed sequences,\n"
            "and --operation product asks for the product of two matrices. --help beside one of them says what\n"
            "that takes.",
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
    .arrays = {[LAYER_X] = {"x", "X", READ, READ, ROWS},
               [LAYER_Z] = {"z", "Z", READ, READ, OPTIONAL, ROWS},
               [LAYER_DT] = {"dt", "DT", READ, READ, EACH_STEP},
               [LAYER_A] = {"A", "A", READ, READ, EACH_HEAD},
               [LAYER_B] = {"B", "B", READ, READ, GROUP_ROWS},
               [LAYER_C] = {"C", "C", READ, READ, GROUP_ROWS},
               [LAYER_D] = {"D", "D", READ, READ, OPTIONAL, .timed = true, EACH_HEAD},
               [LAYER_DT_BIAS] = {"dt_bias", "BIAS", READ, READ, OPTIONAL, EACH_HEAD},
               [LAYER_INITIAL_STATE] = {"initial_state", "H0", READ, READ, OPTIONAL, STATES},
               [LAYER_OUT] = {"out", "OUT", WRITTEN, UNTOUCHED, ROWS},
               [LAYER_FINAL_STATE] = {"final_state", "H", WRITTEN, UNTOUCHED, OPTIONAL, STATES},
               [LAYER_D_OUT] = {"d_out", "DOUT", UNTOUCHED, READ, ROWS},
               [LAYER_D_FINAL_STATE] = {"d_final_state", "DH", UNTOUCHED, READ, OPTIONAL, STATES},
               [LAYER_D_X] = {"d_x", "DX", UNTOUCHED, WRITTEN, ROWS},
               [LAYER_D_Z] = {"d_z", "DZ", UNTOUCHED, WRITTEN, .goes_with = "z", ROWS},
               [LAYER_D_DT] = {"d_dt", "DDT", UNTOUCHED, WRITTEN, EACH_STEP},
               [LAYER_D_A] = {"d_A", "DA", UNTOUCHED, WRITTEN, EACH_HEAD},
               [LAYER_D_B] = {"d_B", "DB", UNTOUCHED, WRITTEN, GROUP_ROWS},
               [LAYER_D_C] = {"d_C", "DC", UNTOUCHED, WRITTEN, GROUP_ROWS},
               [LAYER_D_D] = {"d_D", "DD", UNTOUCHED, WRITTEN, .goes_with = "D", EACH_HEAD},
               [LAYER_D_DT_BIAS] = {"d_dt_bias", "DBIAS", UNTOUCHED, WRITTEN, .goes_with = "dt_bias", EACH_HEAD},
               [LAYER_D_INITIAL_STATE] = {"d_initial_state", "DH0", UNTOUCHED, WRITTEN, .goes_with = "initial_state",
                                          STATES}},
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
    .copy = {{COPY, {LAYER_X, LAYER_OUT}}, {COPY, {LAYER_D_OUT, LAYER_D_X}}},
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
    const struct layer_kernel *row = which;
    if (refuses(which, sizes, why, size))
        return true;
    if (row->no_packed) {
        snprintf(why, size, "takes no packed sequences");
        return true;
    }
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
    operation_pack(&packed, &layer_operation, SEQ_LEN);
    packed.name = "layer of Mamba-2, packed sequences";
    packed.also = NULL;
    packed.sizes[NUM_SEQS] = (struct size){"seqs", "number of sequences", "sequences, one after the other", false};
    packed.sizes[SEQ_LEN].help = "steps of all sequences together";
    packed.default_shapes = packed_shapes;
    packed.refuses = packed_refuses;
    return &packed;
}
