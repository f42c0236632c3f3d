/* SPDX-License-Identifier: MIT */
/* step_operation.c - one step of the selective scan as an operation of the harness (common/harness/operation.h). Test
   data are those of a scan of one element (data.h), and what is right is in oracle.c. */
#include <stdio.h>

#include "../../common/harness/arrays.h"
#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../kernels/kernels.h"
#include "data.h"
#include "oracle.h"

enum { T_BATCH, T_CHANNELS, T_STATES, T_GROUPS, T_NUM_SLOTS };
enum { T_U, T_DELTA, T_A, T_B, T_C, T_D, T_Z, T_DELTA_BIAS, T_STATE, T_SLOTS, T_OUT, T_NEW_STATE, T_NUM_ARRAYS };

/* ---- test data ---- */

/* The array of the scan whose test data an array has. */
static const int scan_array[T_NUM_ARRAYS] = {[T_U] = S_U,
                                             [T_DELTA] = S_DELTA,
                                             [T_A] = S_A,
                                             [T_B] = S_B,
                                             [T_C] = S_C,
                                             [T_D] = S_D,
                                             [T_Z] = S_Z,
                                             [T_STATE] = S_INITIAL_STATE,
                                             [T_DELTA_BIAS] = S_DELTA_BIAS};

static const char *kind_name(int kind)
{
    return selective_operation.kind_name(kind);
}

/* The slot of a row; the last slots come first, so that no row has its own number by chance but one. But for the timed
   data one row in four is empty. */
static int slot_value(const struct problem *problem, const struct data *data, size_t row)
{
    return data->kind != ORDINARY && row % 4 == 2 ? -1 : (int)(problem->sizes[T_NUM_SLOTS] - 1 - row);
}

static void fill(const struct problem *problem, const struct data *data)
{
    const size_t *const sizes = problem->sizes;
    const struct selective_spec spec = {data->seed,
                                        (enum selective_data)data->kind,
                                        problem->flags[DELTA_SOFTPLUS],
                                        {sizes[T_BATCH], sizes[T_CHANNELS], sizes[T_STATES], sizes[T_GROUPS], 1}};
    for (int a = 0; a < T_NUM_ARRAYS; a++) {
        const size_t count = array_is_read(problem, a) ? array_count(&problem->operation->arrays[a], sizes) : 0;
        for (size_t i = 0; i < count; i++)
            array_set(problem, a, i,
                      a == T_SLOTS ? (float)slot_value(problem, data, i) : selective_value(&spec, scan_array[a], i, 0));
    }
}

/* ---- the kernel ---- */

static struct selective_step_args args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    return (struct selective_step_args){.batch = problem->sizes[T_BATCH],
                                        .channels = problem->sizes[T_CHANNELS],
                                        .states = problem->sizes[T_STATES],
                                        .groups = problem->sizes[T_GROUPS],
                                        .num_slots = problem->sizes[T_NUM_SLOTS],
                                        .slots = arrays[T_SLOTS],
                                        .dtype = problem->dtype,
                                        .delta_softplus = problem->flags[DELTA_SOFTPLUS],
                                        .u = arrays[T_U],
                                        .delta = arrays[T_DELTA],
                                        .A = arrays[T_A],
                                        .B = arrays[T_B],
                                        .C = arrays[T_C],
                                        .D = arrays[T_D],
                                        .z = arrays[T_Z],
                                        .delta_bias = arrays[T_DELTA_BIAS],
                                        .out = arrays[T_OUT],
                                        .state = arrays[T_STATE],
                                        .new_state = arrays[T_NEW_STATE]};
}

static void describe(const void *which, struct kernel *kernel)
{
    (void)which;
    kernel->runs[FORWARD] = true;
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct selective_step_kernel *row = which;
    const struct selective_step_args args = args_of(problem);
    return row->step(&args, stream);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    (void)which;
    if (sizes[T_STATES] < 1 || sizes[T_STATES] > SELECTIVE_MAX_STATES)
        snprintf(why, size, "takes 1 to %d states, not %zu", SELECTIVE_MAX_STATES, sizes[T_STATES]);
    else if (sizes[T_CHANNELS] != 0 && (sizes[T_GROUPS] == 0 || sizes[T_CHANNELS] % sizes[T_GROUPS] != 0))
        snprintf(why, size, "takes groups that divide the channels evenly, and %zu channels are not %zu equal groups",
                 sizes[T_CHANNELS], sizes[T_GROUPS]);
    else if (sizes[T_BATCH] > sizes[T_NUM_SLOTS])
        snprintf(why, size, "takes a slot for each row, so at least %zu, not %zu", sizes[T_BATCH], sizes[T_NUM_SLOTS]);
    else
        return false;
    return true;
}

/* All arrays once, and of the states those of the rows. What lies in other slots is not moved. */
static double bytes(const struct problem *problem)
{
    double sum =
        8.0 * (double)problem->sizes[T_BATCH] * (double)problem->sizes[T_CHANNELS] * (double)problem->sizes[T_STATES];
    for (int a = 0; a < T_NUM_ARRAYS; a++)
        if (problem->arrays[a] != NULL && a != T_STATE && a != T_NEW_STATE)
            sum += (double)array_count(&problem->operation->arrays[a], problem->sizes) *
                   (double)array_element_bytes(&problem->operation->arrays[a], problem->dtype);
    return sum;
}

/* ---- what is right ---- */

/* Of a large problem some rows. */
static void check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    const struct selective_step_args args = args_of(problem);
    const size_t most = ((size_t)1 << 20) / (args.channels * args.states + 1) + 2;
    (void)data, (void)levels;
    if (args.channels != 0)
        selective_check_step(&args, args.batch / most + 1, T_OUT, T_NEW_STATE, finding);
}

/* ---- shapes ---- */

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {
        {1024, 4096, 16, 1, 1024}, {256, 4096, 16, 1, 256}, {64, 4096, 16, 1, 64}, {8, 4096, 16, 1, 8}};
    static const size_t on_sim[][MAX_SIZES] = {{5, 6, 3, 2, 7}, {3, 66, 16, 1, 3}, {9, 2, 140, 1, 9}, {2, 1, 1, 1, 4}};
    for (int i = 0; i < 4; i++)
        shapes_add(shapes, machine->backend == ON_CUDA ? on_gpu[i] : on_sim[i]);
}

/* As many slots as rows, if nobody says how many there are. */
static void settle(size_t sizes[MAX_SIZES], const bool given[MAX_SIZES])
{
    if (given[T_BATCH] && !given[T_NUM_SLOTS])
        sizes[T_NUM_SLOTS] = sizes[T_BATCH];
}

#define ROWS .stored = true, .num_dims = 2, .dims = {T_BATCH, T_CHANNELS}
#define GROUP_ROWS .stored = true, .num_dims = 3, .dims = {T_BATCH, T_GROUPS, T_STATES}
#define CHANNEL_STATES .num_dims = 2, .dims = {T_CHANNELS, T_STATES}
#define SLOTS .num_dims = 3, .dims = {T_NUM_SLOTS, T_CHANNELS, T_STATES}
#define EACH_CHANNEL .num_dims = 1, .dims = {T_CHANNELS}
#define OPTIONAL .optional = true

const struct operation selective_step_operation = {
    .name = "one step of the selective scan",
    .asked_by = "step",
    .pass = "step",
    .num_sizes = 5,
    .sizes = {[T_BATCH] = {"batch", "batch", "rows of the batch", .is_list = false},
              [T_CHANNELS] = {"channels", "number of channels", "channels, each with its own u and delta",
                              .is_list = false},
              [T_STATES] = {"states", "number of states", "states of a channel", .is_list = false},
              [T_GROUPS] = {"groups", "number of groups", "groups of channels that share B and C", .is_list = false},
              [T_NUM_SLOTS] = {"num_slots", "number of slots", "slots, each with the states of a text",
                               .is_list = false}},
    .num_flags = 1,
    .flags = {[DELTA_SOFTPLUS] = {"delta_softplus", "a step is softplus(delta + delta_bias)", .timed = true}},
    .num_arrays = T_NUM_ARRAYS,
    .arrays = {[T_U] = {"u", "U", READ, UNTOUCHED, ROWS},
               [T_DELTA] = {"delta", "DELTA", READ, UNTOUCHED, ROWS},
               [T_A] = {"A", "A", READ, UNTOUCHED, CHANNEL_STATES},
               [T_B] = {"B", "B", READ, UNTOUCHED, GROUP_ROWS},
               [T_C] = {"C", "C", READ, UNTOUCHED, GROUP_ROWS},
               [T_D] = {"D", "D", READ, UNTOUCHED, OPTIONAL, .timed = true, EACH_CHANNEL},
               [T_Z] = {"z", "Z", READ, UNTOUCHED, OPTIONAL, .timed = true, ROWS},
               [T_DELTA_BIAS] = {"delta_bias", "BIAS", READ, UNTOUCHED, OPTIONAL, .timed = true, EACH_CHANNEL},
               [T_STATE] = {"state", "H", READ, UNTOUCHED, SLOTS},
               [T_SLOTS] = {"slots", "SLOTS", READ, UNTOUCHED, OPTIONAL, .timed = true, .integers = true, .num_dims = 1,
                            .dims = {T_BATCH}},
               [T_OUT] = {"out", "OUT", WRITTEN, UNTOUCHED, ROWS},
               [T_NEW_STATE] = {"new_state", "N", WRITTEN, UNTOUCHED, SLOTS}},
    .default_shapes = default_shapes,
    .settle = settle,
    .filled = "data",
    .num_kinds = NUM_SELECTIVE_DATA,
    .timed_kind = ORDINARY,
    .hardest_kind = LONG_MEMORY,
    .kind_name = kind_name,
    .fill = fill,
    .check = check,
    .device_check = host_check,
    .device_samples = true,
    .bytes = bytes,
    .copy = {{COPY, {T_STATE, T_NEW_STATE}}},
    .row_bytes = sizeof(struct selective_step_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
};
