/* SPDX-License-Identifier: MIT */
/* step_operation.c - one step of all layers of a model as an operation of the harness (common/harness/operation.h).
   What a layer reads does not come from the layer before it, as in a model it would: each has arrays of its own, so
   that all can be checked. But each launch waits for the one before, and that is what takes time here. */
#include <stdio.h>
#include <stdlib.h>

#include "../../common/harness/choice.h"
#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../kernels/kernels.h"
#include "step_data.h"

enum { LOG_COEFFS };

static const char *kind_name(int kind)
{
    static const char *const names[STEP_NUM_KINDS] = {"uniform", "signed", "nonfinite"};
    return names[kind];
}

static struct step_spec spec_of(const struct problem *problem, const struct data *data)
{
    return (struct step_spec){data->seed, data->kind, problem->flags[LOG_COEFFS], problem->sizes[S_NUM_SLOTS]};
}

static void fill(const struct problem *problem, const struct data *data)
{
    const struct step_spec spec = spec_of(problem, data);
    for (int a = 0; a < NUM_STEP_ARRAYS; a++) {
        const size_t count = array_count(&problem->operation->arrays[a], problem->sizes);
        for (size_t i = 0; i < count && array_is_read(problem, a); i++)
            array_set(problem, a, i, step_value(&spec, a, i));
    }
}

static cudaError_t device_fill(const struct problem *problem, const struct data *data)
{
    const struct step_spec spec = spec_of(problem, data);
    cudaError_t error = cudaSuccess;
    for (int a = 0; a < NUM_STEP_ARRAYS && error == cudaSuccess; a++) {
        const struct array *array = &problem->operation->arrays[a];
        if (array_is_read(problem, a))
            error = step_fill_array(&spec, a, array_dtype(array, problem->dtype), problem->arrays[a],
                                    array_count(array, problem->sizes));
    }
    return error;
}

/* A layer's arguments. */
static struct step_args args_of(const struct problem *problem, size_t layer)
{
    void *const *arrays = problem->arrays;
    const size_t batch = problem->sizes[S_BATCH], channels = problem->sizes[S_CHANNELS];
    const size_t num_slots = problem->sizes[S_NUM_SLOTS];
    const size_t row = layer * batch * channels * dtype_bytes(problem->dtype), state = layer * num_slots * channels;
    return (struct step_args){.batch = batch,
                              .channels = channels,
                              .num_slots = num_slots,
                              .slots = arrays[S_SLOTS],
                              .dtype = problem->dtype,
                              .log_coeffs = problem->flags[LOG_COEFFS],
                              .inputs = (const char *)arrays[S_INPUTS] + row,
                              .coeffs = (const char *)arrays[S_COEFFS] + row,
                              .outputs = (char *)arrays[S_OUTPUTS] + row,
                              .states = (const float *)arrays[S_STATES] + state,
                              .new_states = (float *)arrays[S_NEW_STATES] + state};
}

/* ---- the launch ---- */

/* A graph is made for one set of arrays. The harness launches the same ones many times, and up to four sets in turn. */
struct known_graph {
    size_t num_layers;
    struct step_args first; /* the first layer's arguments */
    cudaGraphExec_t exec;   /* NULL: none */
};

/* Whether a graph is of these arrays. All other layers' follow from the first one's. */
static bool is_of(const struct known_graph *graph, const struct step_args *layers, size_t num_layers)
{
    const struct step_args *a = &graph->first, *b = layers;
    return graph->exec != NULL && graph->num_layers == num_layers && a->batch == b->batch &&
           a->channels == b->channels && a->num_slots == b->num_slots && a->slots == b->slots && a->dtype == b->dtype &&
           a->log_coeffs == b->log_coeffs && a->inputs == b->inputs && a->coeffs == b->coeffs &&
           a->outputs == b->outputs && a->states == b->states && a->new_states == b->new_states;
}

static cudaError_t launch_graph(const struct step_args *layers, size_t num_layers, cudaStream_t stream)
{
    static struct known_graph known[8];
    static int next;
    for (int i = 0; i < 8; i++)
        if (is_of(&known[i], layers, num_layers))
            return cudaGraphLaunch(known[i].exec, stream);
    struct known_graph *const graph = &known[next++ % 8];
    if (graph->exec != NULL)
        cudaGraphExecDestroy(graph->exec);
    *graph = (struct known_graph){num_layers, layers[0], NULL};
    const cudaError_t error = layout_step_graph(layers, num_layers, &graph->exec);
    return error != cudaSuccess ? error : cudaGraphLaunch(graph->exec, stream);
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct step_kernel *row = which;
    const size_t num_layers = problem->sizes[S_LAYERS];
    struct step_args *layers = calloc(num_layers + 1, sizeof *layers);
    if (layers == NULL)
        return cudaErrorMemoryAllocation;
    for (size_t layer = 0; layer < num_layers; layer++)
        layers[layer] = args_of(problem, layer);
    const cudaError_t error = row->as_graph && num_layers != 0 ? launch_graph(layers, num_layers, stream)
                                                               : layout_step_layers(layers, num_layers, stream);
    free(layers);
    return error;
}

static void describe(const void *which, struct kernel *kernel)
{
    (void)which;
    kernel->runs[FORWARD] = true;
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    (void)which;
    if (sizes[S_BATCH] <= sizes[S_NUM_SLOTS])
        return false;
    snprintf(why, size, "takes a slot for each row, so at least %zu, not %zu", sizes[S_BATCH], sizes[S_NUM_SLOTS]);
    return true;
}

/* Rows and their states. What lies in other slots is not moved. */
static double bytes(const struct problem *problem)
{
    const double rows = (double)problem->sizes[S_LAYERS] * (double)problem->sizes[S_BATCH];
    return rows * (double)problem->sizes[S_CHANNELS] * (3.0 * (double)dtype_bytes(problem->dtype) + 8.0);
}

/* ---- what is right ---- */

static void check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    const struct step_args args = args_of(problem, 0);
    (void)data, (void)levels;
    for (size_t number = 0; number < problem->sizes[S_LAYERS] * args.channels; number++)
        step_check(&args, number, finding);
}

static cudaError_t device_check(const struct problem *problem, const struct data *data, int levels,
                                struct finding *finding)
{
    const struct step_args args = args_of(problem, 0);
    (void)data, (void)levels;
    return step_device_check(&args, problem->sizes[S_LAYERS], finding);
}

/* ---- shapes ---- */

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {{32, 256, 4096, 256}, {32, 64, 4096, 64}, {32, 8, 4096, 8}};
    static const size_t on_sim[][MAX_SIZES] = {{2, 3, 5, 4}, {3, 4, 8, 9}, {1, 1, 130, 1}};
    for (int i = 0; i < 3; i++)
        shapes_add(shapes, machine->backend == ON_CUDA ? on_gpu[i] : on_sim[i]);
}

/* As many slots as rows, if nobody says how many there are. */
static void settle(size_t sizes[MAX_SIZES], const bool given[MAX_SIZES])
{
    if (given[S_BATCH] && !given[S_NUM_SLOTS])
        sizes[S_NUM_SLOTS] = sizes[S_BATCH];
}

#define ROWS .stored = true, .num_dims = 3, .dims = {S_LAYERS, S_BATCH, S_CHANNELS}
#define STATES .num_dims = 3, .dims = {S_LAYERS, S_NUM_SLOTS, S_CHANNELS}

const struct operation step_operation = {
    .name = "one step of the linear recurrence in all layers of a model",
    .asked_by = "step",
    .pass = "step",
    .num_sizes = 4,
    .sizes = {{"layers", "number of layers", "layers, which take their steps one after the other", .is_list = false},
              {"batch", "batch", "rows of the batch", .is_list = false},
              {"channels", "number of channels", "channels of a row, side by side", .is_list = false},
              {"num_slots", "number of slots", "slots of a layer, each with a state", .is_list = false}},
    .num_flags = 1,
    .flags = {[LOG_COEFFS] = {"log_coeffs", "coeffs are logarithms", .timed = false}},
    .num_arrays = NUM_STEP_ARRAYS,
    .arrays = {[S_INPUTS] = {"inputs", "X", READ, UNTOUCHED, ROWS},
               [S_COEFFS] = {"coeffs", "C", READ, UNTOUCHED, ROWS},
               [S_OUTPUTS] = {"outputs", "Y", WRITTEN, UNTOUCHED, ROWS},
               [S_STATES] = {"states", "S", READ, UNTOUCHED, STATES},
               [S_NEW_STATES] = {"new_states", "N", WRITTEN, UNTOUCHED, STATES},
               [S_SLOTS] = {"slots", "SLOTS", READ, UNTOUCHED, .integers = true, .optional = true, .num_dims = 1,
                            .dims = {S_BATCH}}},
    .default_shapes = default_shapes,
    .settle = settle,
    .filled = "coefficients",
    .num_kinds = STEP_NUM_KINDS,
    .timed_kind = STEP_UNIFORM,
    .hardest_kind = STEP_SIGNED,
    .kind_name = kind_name,
    .fill = fill,
    .device_fill = device_fill,
    .check = check,
    .device_check = device_check,
    .device_samples = true,
    .bytes = bytes,
    .copy = {{COPY, {S_STATES, S_NEW_STATES}}},
    .row_bytes = sizeof(struct step_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
};
