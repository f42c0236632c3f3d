/* SPDX-License-Identifier: MIT */
/* operation.c - the selective scan as an operation of the harness. The oracle is in oracle.c, the test data in
   data.h. */
#include "../../common/harness/operation.h"

#include <stdio.h>

#include "../../common/harness/machine.h"
#include "data.h"
#include "oracle.h"

/* ---- test data ---- */

static const char *kind_name(int kind)
{
    static const char *const names[NUM_SELECTIVE_DATA] = {"ordinary", "long memory", "forgetting", "zero steps",
                                                          "large",    "growing",     "nonfinite"};
    return names[kind];
}

/* Left out where results would overflow: growing by at most exp(1/8) a step. */
static bool kind_fits(const struct problem *problem, int kind)
{
    return kind != GROWING || problem->sizes[SEQ_LEN] <= 256;
}

size_t selective_window(size_t seq_len)
{
    return seq_len > 4096 ? 2053 : 0; /* a prime, so that it meets no tile's edge twice */
}

static void fill(const struct problem *problem, const struct data *data)
{
    const struct selective_spec spec = selective_spec_of(problem, data);
    const size_t window = selective_window(problem->sizes[SEQ_LEN]);
    for (int a = 0; a < problem->operation->num_arrays; a++) {
        const struct array *array = &problem->operation->arrays[a];
        const size_t count = array_count(array, problem->sizes);
        if (problem->arrays[a] == NULL || array_role(array, problem->direction) != READ)
            continue;
        for (size_t i = 0; i < count; i++)
            array_set(problem, a, i, selective_value(&spec, a, i, window));
    }
}

/* ---- the kernels ---- */

struct selective_args selective_args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    const bool packed = problem->operation->num_arrays > S_STARTS;
    return (struct selective_args){.batch = packed ? 1 : problem->sizes[BATCH],
                                   .channels = problem->sizes[CHANNELS],
                                   .states = problem->sizes[STATES],
                                   .groups = problem->sizes[GROUPS],
                                   .seq_len = problem->sizes[SEQ_LEN],
                                   .num_seqs = packed ? problem->sizes[BATCH] : 0,
                                   .starts = packed ? arrays[S_STARTS] : NULL,
                                   .dtype = problem->dtype,
                                   .delta_softplus = problem->flags[DELTA_SOFTPLUS],
                                   .config = problem->config,
                                   .u = arrays[S_U],
                                   .delta = arrays[S_DELTA],
                                   .A = arrays[S_A],
                                   .B = arrays[S_B],
                                   .C = arrays[S_C],
                                   .D = arrays[S_D],
                                   .z = arrays[S_Z],
                                   .delta_bias = arrays[S_DELTA_BIAS],
                                   .initial_state = arrays[S_INITIAL_STATE],
                                   .out = arrays[S_OUT],
                                   .final_state = arrays[S_FINAL_STATE],
                                   .d_out = arrays[S_D_OUT],
                                   .d_final_state = arrays[S_D_FINAL_STATE],
                                   .d_u = arrays[S_D_U],
                                   .d_delta = arrays[S_D_DELTA],
                                   .d_A = arrays[S_D_A],
                                   .d_B = arrays[S_D_B],
                                   .d_C = arrays[S_D_C],
                                   .d_D = arrays[S_D_D],
                                   .d_z = arrays[S_D_Z],
                                   .d_delta_bias = arrays[S_D_DELTA_BIAS],
                                   .d_initial_state = arrays[S_D_INITIAL_STATE],
                                   .workspace = problem->workspace,
                                   .workspace_size = problem->workspace_size};
}

static void describe(const void *which, struct kernel *kernel)
{
    const struct selective_kernel *row = which;
    kernel->runs[FORWARD] = row->forward != NULL;
    kernel->runs[BACKWARD] = row->backward != NULL;
    if (row->max_states != 0)
        snprintf(kernel->limits, sizeof kernel->limits, "up to %zu states", row->max_states);
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct selective_kernel *row = which;
    const struct selective_args args = selective_args_of(problem);
    return (is_backward(problem->direction) ? row->backward : row->forward)(&args, stream);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct selective_kernel *row = which;
    const size_t most = row->max_states != 0 ? row->max_states : SELECTIVE_MAX_STATES;
    if (sizes[STATES] < 1 || sizes[STATES] > most)
        snprintf(why, size, "takes 1 to %zu states, not %zu", most, sizes[STATES]);
    else if (sizes[CHANNELS] != 0 && (sizes[GROUPS] == 0 || sizes[CHANNELS] % sizes[GROUPS] != 0))
        snprintf(why, size, "takes groups that divide the channels evenly, and %zu channels are not %zu equal groups",
                 sizes[CHANNELS], sizes[GROUPS]);
    else
        return false;
    return true;
}

static size_t workspace_size(const void *which, const struct problem *problem)
{
    const struct selective_kernel *row = which;
    const struct selective_args args = selective_args_of(problem);
    return row->workspace_size != NULL ? row->workspace_size(&args, is_backward(problem->direction)) : 0;
}

/* Five levels in a warp, five over the warps, and the ends. */
static int levels(const void *which, const struct problem *problem)
{
    (void)which, (void)problem;
    return 16;
}

/* ---- shapes ---- */

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {
        {8, 2048, 16, 1, 2048}, {8, 2048, 16, 1, 8192}, {1, 2048, 16, 1, 1024}, {1, 2048, 16, 1, 65536}};
    static const size_t on_sim[][MAX_SIZES] = {
        {2, 4, 3, 2, 5}, {1, 34, 16, 1, 33}, {1, 2, 17, 2, 37}, {1, 2, 8, 1, 130}};
    for (int i = 0; i < 4; i++)
        shapes_add(shapes, machine->backend == ON_CUDA ? on_gpu[i] : on_sim[i]);
}

#define ROWS .stored = true, .num_dims = 3, .dims = {BATCH, CHANNELS, SEQ_LEN}
#define GROUP_ROWS .stored = true, .num_dims = 4, .dims = {BATCH, GROUPS, STATES, SEQ_LEN}
#define CHANNEL_STATES .num_dims = 2, .dims = {CHANNELS, STATES}
#define ALL_STATES .num_dims = 3, .dims = {BATCH, CHANNELS, STATES}
#define EACH_CHANNEL .num_dims = 1, .dims = {CHANNELS}
#define OPTIONAL .optional = true

const struct operation selective_operation = {
    .name = "selective scan",
    .also =
        "The program has two more operations: --seqs N or --starts S.npy asks for packed sequences, --step for one\n"
        "step. --help beside one of them says what that takes.",
    .num_sizes = 5,
    .sizes = {[BATCH] = {"batch", "batch", "sequences of vectors side by side", .is_list = false},
              [CHANNELS] = {"channels", "number of channels", "channels, each with its own u and delta",
                            .is_list = false},
              [STATES] = {"states", "number of states", "states of a channel", .is_list = false},
              [GROUPS] = {"groups", "number of groups", "groups of channels that share B and C", .is_list = false},
              [SEQ_LEN] = {"seq_len", "length", "steps of a sequence", .is_list = true}},
    .num_flags = 1,
    .flags = {[DELTA_SOFTPLUS] = {"delta_softplus", "a step is softplus(delta + delta_bias)", .timed = true}},
    .num_arrays = S_NUM_ARRAYS,
    .arrays = {[S_D_OUT] = {"d_out", "DOUT", UNTOUCHED, READ, ROWS},
               [S_D_FINAL_STATE] = {"d_final_state", "DH", UNTOUCHED, READ, OPTIONAL, ALL_STATES},
               [S_U] = {"u", "U", READ, READ, ROWS},
               [S_DELTA] = {"delta", "DELTA", READ, READ, ROWS},
               [S_A] = {"A", "A", READ, READ, CHANNEL_STATES},
               [S_B] = {"B", "B", READ, READ, GROUP_ROWS},
               [S_C] = {"C", "C", READ, READ, GROUP_ROWS},
               [S_D] = {"D", "D", READ, READ, OPTIONAL, .timed = true, EACH_CHANNEL},
               [S_Z] = {"z", "Z", READ, READ, OPTIONAL, .timed = true, ROWS},
               [S_DELTA_BIAS] = {"delta_bias", "BIAS", READ, READ, OPTIONAL, .timed = true, EACH_CHANNEL},
               [S_INITIAL_STATE] = {"initial_state", "H0", READ, READ, OPTIONAL, ALL_STATES},
               [S_OUT] = {"out", "OUT", WRITTEN, UNTOUCHED, ROWS},
               [S_FINAL_STATE] = {"final_state", "H", WRITTEN, UNTOUCHED, OPTIONAL, ALL_STATES},
               [S_D_U] = {"d_u", "DU", UNTOUCHED, WRITTEN, ROWS},
               [S_D_DELTA] = {"d_delta", "DDELTA", UNTOUCHED, WRITTEN, ROWS},
               [S_D_A] = {"d_A", "DA", UNTOUCHED, WRITTEN, CHANNEL_STATES},
               [S_D_B] = {"d_B", "DB", UNTOUCHED, WRITTEN, GROUP_ROWS},
               [S_D_C] = {"d_C", "DC", UNTOUCHED, WRITTEN, GROUP_ROWS},
               [S_D_D] = {"d_D", "DD", UNTOUCHED, WRITTEN, .goes_with = "D", EACH_CHANNEL},
               [S_D_Z] = {"d_z", "DZ", UNTOUCHED, WRITTEN, .goes_with = "z", ROWS},
               [S_D_DELTA_BIAS] = {"d_delta_bias", "DBIAS", UNTOUCHED, WRITTEN, .goes_with = "delta_bias",
                                   EACH_CHANNEL},
               [S_D_INITIAL_STATE] = {"d_initial_state", "DH0", UNTOUCHED, WRITTEN, .goes_with = "initial_state",
                                      ALL_STATES}},
    .default_shapes = default_shapes,
    .filled = "data",
    .num_kinds = NUM_SELECTIVE_DATA,
    .timed_kind = ORDINARY,
    .hardest_kind = LONG_MEMORY,
    .kind_name = kind_name,
    .kind_fits = kind_fits,
    .fill = fill,
    .device_fill = selective_device_fill,
    .check = selective_check,
    .device_check = selective_device_check,
    .device_samples = true,
    .copy = {{COPY, {S_U, S_OUT}}, {COPY, {S_D_OUT, S_D_U}}},
    .add = {{ADD, {S_U, S_DELTA, S_OUT}}, {ADD5, {S_D_OUT, S_U, S_DELTA, S_D_U, S_D_DELTA}}},
    .row_bytes = sizeof(struct selective_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
    .workspace_size = workspace_size,
    .levels = levels,
};

/* ---- packed sequences ---- */

static void packed_describe(const void *which, struct kernel *kernel)
{
    const struct selective_kernel *row = which;
    describe(which, kernel);
    kernel->runs[FORWARD] = row->packed && row->forward != NULL;
    kernel->runs[BACKWARD] = row->packed && row->backward != NULL;
}

static bool packed_refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    if (refuses(which, sizes, why, size))
        return true;
    if (sizes[BATCH] != 0 || sizes[SEQ_LEN] == 0)
        return false;
    snprintf(why, size, "takes at least one sequence where there are steps");
    return true;
}

static void packed_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[MAX_SIZES] = {64, 2048, 16, 1, 65536};
    static const size_t on_sim[][MAX_SIZES] = {
        {3, 4, 3, 2, 9}, {2, 32, 16, 1, 128}, {5, 34, 16, 1, 160}, {40, 2, 17, 2, 150}};
    for (int i = 0; i < 4 && machine->backend != ON_CUDA; i++)
        shapes_add(shapes, on_sim[i]);
    if (machine->backend == ON_CUDA)
        shapes_add(shapes, on_gpu);
}

const struct operation *selective_packed_operation(void)
{
    static struct operation packed;
    operation_pack(&packed, &selective_operation, SEQ_LEN);
    packed.name = "selective scan, packed sequences";
    packed.also = NULL;
    packed.sizes[BATCH] = (struct size){"seqs", "number of sequences", "sequences, one after the other", false};
    packed.sizes[SEQ_LEN].help = "steps of all sequences together";
    packed.default_shapes = packed_shapes;
    packed.describe = packed_describe;
    packed.refuses = packed_refuses;
    return &packed;
}
