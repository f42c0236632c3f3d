/* SPDX-License-Identifier: MIT */
/* operation.c - the recurrence in the layout of models as an operation of the harness (common/harness/operation.h), and
   the same of packed sequences, whose first size is their number. */
#include <stdio.h>

#include "../../common/harness/choice.h"
#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../kernels/kernels.h"
#include "oracle.h"

enum { LOG_COEFFS };

static bool is_packed(const struct problem *problem)
{
    return problem->operation == &packed_operation;
}

/* ---- test data ---- */

static const char *kind_name(int kind)
{
    static const char *const names[LAYOUT_NUM_KINDS] = {"uniform", "near one",  "signed",
                                                        "zeros",   "NaN first", "nonfinite"};
    return names[kind];
}

static struct layout_spec spec_of(const struct problem *problem, const struct data *data)
{
    return (struct layout_spec){.seed = data->seed,
                                .kind = data->kind,
                                .packed = is_packed(problem),
                                .backward = is_backward(problem->direction),
                                .reverse = is_reversed(problem->direction),
                                .log_coeffs = problem->flags[LOG_COEFFS],
                                .num_seqs = problem->sizes[0],
                                .seq_len = problem->sizes[SEQ_LEN],
                                .channels = problem->sizes[CHANNELS]};
}

static void fill(const struct problem *problem, const struct data *data)
{
    const struct layout_spec spec = spec_of(problem, data);
    for (int a = 0; a < problem->operation->num_arrays; a++) {
        const size_t count = array_count(&problem->operation->arrays[a], problem->sizes);
        for (size_t i = 0; i < count && array_is_read(problem, a); i++) {
            if (a == L_STARTS)
                ((int *)problem->arrays[a])[i] = (int)layout_start(&spec, i);
            else
                array_set(problem, a, i, layout_value(&spec, a, i));
        }
    }
}

static cudaError_t device_fill(const struct problem *problem, const struct data *data)
{
    const struct layout_spec spec = spec_of(problem, data);
    cudaError_t error = cudaSuccess;
    for (int a = 0; a < problem->operation->num_arrays && error == cudaSuccess; a++) {
        const struct array *array = &problem->operation->arrays[a];
        if (array_is_read(problem, a))
            error = layout_fill_array(&spec, a, array_dtype(array, problem->dtype), problem->arrays[a],
                                      array_count(array, problem->sizes));
    }
    return error;
}

/* ---- the way to the kernels ---- */

static struct layout_args args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    return (struct layout_args){.batch = is_packed(problem) ? 1 : problem->sizes[BATCH],
                                .seq_len = problem->sizes[SEQ_LEN],
                                .channels = problem->sizes[CHANNELS],
                                .num_seqs = is_packed(problem) ? problem->sizes[NUM_SEQS] : 0,
                                .starts = is_packed(problem) ? arrays[L_STARTS] : NULL,
                                .dtype = problem->dtype,
                                .reverse = is_reversed(problem->direction),
                                .log_coeffs = problem->flags[LOG_COEFFS],
                                .config = problem->config,
                                .inputs = arrays[L_INPUTS],
                                .coeffs = arrays[L_COEFFS],
                                .outputs = arrays[L_OUTPUTS],
                                .initial_state = arrays[L_INITIAL_STATE],
                                .final_state = arrays[L_FINAL_STATE],
                                .d_outputs = arrays[L_D_OUTPUTS],
                                .d_final_state = arrays[L_D_FINAL_STATE],
                                .d_inputs = arrays[L_D_INPUTS],
                                .d_coeffs = arrays[L_D_COEFFS],
                                .d_initial_state = arrays[L_D_INITIAL_STATE],
                                .workspace = problem->workspace,
                                .workspace_size = problem->workspace_size};
}

static void describe(const void *which, struct kernel *kernel)
{
    const struct layout_kernel *row = which;
    kernel->runs[FORWARD] = kernel->runs[REVERSE] = row->forward != NULL;
    kernel->runs[BACKWARD] = kernel->runs[BACKWARD_REVERSE] = row->backward != NULL;
    if (row->plain)
        kernel->lacks = choice_of_flag(LOG_COEFFS) | choice_of_array(L_INITIAL_STATE) | choice_of_array(L_FINAL_STATE) |
                        choice_of_array(L_D_FINAL_STATE);
    if (row->channels_of != 0)
        snprintf(kernel->limits, sizeof kernel->limits, "multiples of %zu channels", row->channels_of);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct layout_kernel *row = which;
    if (row->channels_of == 0 || sizes[CHANNELS] % row->channels_of == 0)
        return false;
    snprintf(why, size, "takes multiples of %zu channels, not %zu", row->channels_of, sizes[CHANNELS]);
    return true;
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct layout_kernel *row = which;
    const struct layout_args args = args_of(problem);
    return (is_backward(problem->direction) ? row->backward : row->forward)(&args, stream);
}

static bool packed_refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct layout_kernel *row = which;
    if (refuses(which, sizes, why, size))
        return true;
    if (row->plain)
        snprintf(why, size, "takes no packed sequences");
    else if (sizes[NUM_SEQS] == 0 && sizes[SEQ_LEN] != 0)
        snprintf(why, size, "takes at least one sequence where there are steps");
    else
        return false;
    return true;
}

static size_t workspace_size(const void *which, const struct problem *problem)
{
    const struct layout_kernel *row = which;
    const struct layout_args args = args_of(problem);
    return row->workspace_size != NULL ? row->workspace_size(&args, is_backward(problem->direction)) : 0;
}

/* A term that goes from chunk to chunk joins no more sums than the steps that it passes, but for those at the ends: its
   warp's, its chunk's, and the same where it arrives. */
static int levels(const void *which, const struct problem *problem)
{
    (void)which, (void)problem;
    return 6;
}

/* ---- the oracle ---- */

static void check(const struct problem *problem, const struct data *data, int num_levels, struct finding *finding)
{
    const struct layout_args args = args_of(problem);
    (void)data;
    for (size_t number = 0; number < oracle_count(&args); number++)
        oracle_check(&args, is_backward(problem->direction), num_levels, number, finding);
}

static cudaError_t device_check(const struct problem *problem, const struct data *data, int num_levels,
                                struct finding *finding)
{
    const struct layout_args args = args_of(problem);
    (void)data;
    return layout_device_check(&args, is_backward(problem->direction), num_levels, finding);
}

/* ---- shapes ---- */

static void add_shapes(struct shapes *shapes, const size_t all[][MAX_SIZES], size_t count)
{
    for (size_t i = 0; i < count; i++)
        shapes_add(shapes, all[i]);
}

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {{8, 2048, 2048},  {32, 1024, 4096}, {1, 65536, 2048},
                                               {1, 65536, 1024}, {1, 8192, 2048},  {4, 16384, 256}};
    static const size_t on_sim[][MAX_SIZES] = {{2, 5, 3}, {1, 70, 66}, {3, 33, 8}, {1, 600, 4}};
    if (machine->backend == ON_CUDA)
        add_shapes(shapes, on_gpu, sizeof on_gpu / sizeof *on_gpu);
    else
        add_shapes(shapes, on_sim, sizeof on_sim / sizeof *on_sim);
}

static void packed_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {{64, 262144, 2048}};
    static const size_t on_sim[][MAX_SIZES] = {{3, 9, 2}, {7, 70, 66}, {40, 300, 3}};
    if (machine->backend == ON_CUDA)
        add_shapes(shapes, on_gpu, 1);
    else
        add_shapes(shapes, on_sim, 3);
}

#define OPTIONAL .optional = true
#define STATES .num_dims = 2, .dims = {0, CHANNELS}
#define OF_TIME                                                                                                        \
    {                                                                                                                  \
        "seq_len", "length", "steps in time", .is_list = true                                                          \
    }
#define OF_CHANNELS                                                                                                    \
    {                                                                                                                  \
        "channels", "number of channels", "channels of a step, side by side", .is_list = false                         \
    }
#define COMMON_ARRAYS(ROWS)                                                                                            \
    [L_D_OUTPUTS] = {"d_outputs", "DY", UNTOUCHED, READ, ROWS}, [L_INPUTS] = {"inputs", "X", READ, UNTOUCHED, ROWS},   \
    [L_COEFFS] = {"coeffs", "C", READ, READ, ROWS}, [L_OUTPUTS] = {"outputs", "Y", WRITTEN, READ, ROWS},               \
    [L_D_INPUTS] = {"d_inputs", "DX", UNTOUCHED, WRITTEN, ROWS},                                                       \
    [L_D_COEFFS] = {"d_coeffs", "DC", UNTOUCHED, WRITTEN, ROWS},                                                       \
    [L_INITIAL_STATE] = {"initial_state", "S", READ, READ, OPTIONAL, STATES}, [L_FINAL_STATE] = {"final_state",        \
                                                                                                 "F",                  \
                                                                                                 WRITTEN,              \
                                                                                                 UNTOUCHED,            \
                                                                                                 OPTIONAL,             \
                                                                                                 STATES},              \
    [L_D_FINAL_STATE] = {"d_final_state", "DF", UNTOUCHED, READ, OPTIONAL, STATES},                                    \
    [L_D_INITIAL_STATE] = {"d_initial_state", "DS", UNTOUCHED, WRITTEN, .goes_with = "initial_state", STATES}
#define COMMON                                                                                                         \
    .num_flags = 1, .flags = {[LOG_COEFFS] = {"log_coeffs", "coeffs are logarithms", .timed = false}},                 \
    .filled = "coefficients", .num_kinds = LAYOUT_NUM_KINDS, .timed_kind = LAYOUT_UNIFORM,                             \
    .hardest_kind = LAYOUT_NEAR_ONE, .kind_name = kind_name, .fill = fill, .device_fill = device_fill, .check = check, \
    .device_check = device_check, .device_samples = true,                                                              \
    .copy = {{COPY, {L_INPUTS, L_OUTPUTS}}, {COPY, {L_D_OUTPUTS, L_D_INPUTS}}},                                        \
    .add = {{ADD, {L_INPUTS, L_COEFFS, L_OUTPUTS}},                                                                    \
            {ADD5, {L_D_OUTPUTS, L_COEFFS, L_OUTPUTS, L_D_INPUTS, L_D_COEFFS}}},                                       \
    .row_bytes = sizeof(struct layout_kernel), .describe = describe, .launch = launch,                                 \
    .workspace_size = workspace_size, .levels = levels

#define BATCH_ROWS .stored = true, .num_dims = 3, .dims = {BATCH, SEQ_LEN, CHANNELS}
#define PACKED_ROWS .stored = true, .num_dims = 2, .dims = {SEQ_LEN, CHANNELS}

const struct operation layout_operation = {
    .name = "linear recurrence, channels side by side",
    .also =
        "The program has two more operations: --seqs N or --starts S.npy asks for packed sequences, --step for one\n"
        "step of all layers of a model. --help beside one of them says what that takes.",
    .num_sizes = 3,
    .sizes = {{"batch", "batch", "sequences of each channel", .is_list = false}, OF_TIME, OF_CHANNELS},
    .num_arrays = L_STARTS,
    .arrays = {COMMON_ARRAYS(BATCH_ROWS)},
    .default_shapes = default_shapes,
    .refuses = refuses,
    COMMON,
};

const struct operation packed_operation = {
    .name = "linear recurrence, packed sequences, channels side by side",
    .num_sizes = 3,
    .sizes = {{"seqs", "number of sequences", "sequences, one after the other", .is_list = false},
              OF_TIME,
              OF_CHANNELS},
    .num_arrays = NUM_LAYOUT_ARRAYS,
    .arrays = {COMMON_ARRAYS(PACKED_ROWS), [L_STARTS] = {"starts", "STARTS", READ, READ, .integers = true,
                                                         .num_dims = 1, .dims = {NUM_SEQS}, .extra = 1}},
    .default_shapes = packed_shapes,
    .refuses = packed_refuses,
    COMMON,
};
