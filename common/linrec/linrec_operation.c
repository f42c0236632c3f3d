/* SPDX-License-Identifier: MIT */
/* linrec_operation.c - see linrec_operation.h */
#include "linrec_operation.h"

#include <stdio.h>

#include "../harness/choice.h"
#include "../harness/machine.h"
#include "linrec_contract.h"
#include "linrec_oracle.h"

/* ---- test data ---- */

const enum data_array linrec_contents[] = {
    [LINREC_D_OUTPUTS] = DATA_D_OUTPUTS,
    [LINREC_INPUTS] = DATA_INPUTS,
    [LINREC_COEFFS] = DATA_COEFFS,
    [LINREC_OUTPUTS] = DATA_OUTPUTS, /* backward they are an input like any other: random numbers */
    [LINREC_INITIAL_STATE] = DATA_INITIAL_STATE,
    [LINREC_D_FINAL_STATE] = DATA_D_FINAL_STATE,
};

/* Very long rows get a zero coefficient every 65537 elements (a prime, so that it meets no tile's edge twice), so that
   one thread need not walk the whole row to check it. */
static size_t window_of(size_t seq_len)
{
    return seq_len > (size_t)1 << 17 ? 65537 : 0;
}

struct data_spec linrec_spec(const struct problem *problem, const struct data *data)
{
    const size_t seq_len = problem->sizes[SEQ_LEN];
    return (struct data_spec){
        data->seed,         (enum data_kind)data->kind,     seq_len, is_reversed(problem->direction),
        window_of(seq_len), is_backward(problem->direction)};
}

static const char *kind_name(int kind)
{
    return data_kind_name((enum data_kind)kind);
}

static bool kind_fits(const struct problem *problem, int kind)
{
    const struct data_spec spec = linrec_spec(problem, &(struct data){0, kind});
    const bool has_states =
        problem->arrays[LINREC_INITIAL_STATE] != NULL || problem->arrays[LINREC_D_FINAL_STATE] != NULL;
    /* The other kinds tell nothing of states that these do not. A NaN that a state meets goes through all windows. */
    const bool tells = !has_states || spec.kind == DATA_NEAR_ONE || spec.kind == DATA_OVERFLOW ||
                       spec.kind == DATA_NONFINITE || (spec.kind == DATA_NAN_FIRST && spec.window == 0);
    return tells && data_kind_fits(&spec, spec.kind);
}

static bool reads(const struct problem *problem, int array)
{
    return problem->arrays[array] != NULL && array_role(&linrec_operation.arrays[array], problem->direction) == READ;
}

static void fill(const struct problem *problem, const struct data *data)
{
    const struct data_spec spec = linrec_spec(problem, data);
    for (int a = 0; a < linrec_operation.num_arrays; a++) {
        float *values = problem->arrays[a];
        if (!reads(problem, a))
            continue;
        const size_t length = data_is_state(linrec_contents[a]) ? 1 : spec.seq_len;
        for (size_t s = 0; s < problem->sizes[NUM_SEQS]; s++)
            for (size_t l = 0; l < length; l++)
                values[s * length + l] = data_value(&spec, linrec_contents[a], s, l);
    }
}

static cudaError_t device_fill(const struct problem *problem, const struct data *data)
{
    const struct data_spec spec = linrec_spec(problem, data);
    cudaError_t error = cudaSuccess;
    for (int a = 0; a < linrec_operation.num_arrays && error == cudaSuccess; a++)
        if (reads(problem, a))
            error = linrec_fill_array(&spec, linrec_contents[a], problem->arrays[a], problem->sizes[NUM_SEQS]);
    return error;
}

/* ---- the oracle ---- */

static void check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    const struct linrec_args args = linrec_args_of(problem);
    const bool backward = is_backward(problem->direction);
    const size_t window = linrec_spec(problem, data).window, pieces = oracle_num_pieces(&args, window);
    for (size_t s = 0; s < args.num_seqs; s++)
        for (size_t p = 0; p < pieces; p++) {
            size_t begin, end;
            oracle_piece(&args, backward, window, p, &begin, &end);
            oracle_check(&args, backward, s, begin, end, levels, finding);
        }
}

/* ---- the kernels ---- */

struct linrec_args linrec_args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    return (struct linrec_args){.num_seqs = problem->sizes[NUM_SEQS],
                                .seq_len = problem->sizes[SEQ_LEN],
                                .reverse = is_reversed(problem->direction),
                                .config = problem->config,
                                .inputs = arrays[LINREC_INPUTS],
                                .coeffs = arrays[LINREC_COEFFS],
                                .outputs = arrays[LINREC_OUTPUTS],
                                .d_outputs = arrays[LINREC_D_OUTPUTS],
                                .d_inputs = arrays[LINREC_D_INPUTS],
                                .d_coeffs = arrays[LINREC_D_COEFFS],
                                .initial_state = arrays[LINREC_INITIAL_STATE],
                                .final_state = arrays[LINREC_FINAL_STATE],
                                .d_final_state = arrays[LINREC_D_FINAL_STATE],
                                .d_initial_state = arrays[LINREC_D_INITIAL_STATE],
                                .workspace = problem->workspace,
                                .workspace_size = problem->workspace_size};
}

static void describe(const void *which, struct kernel *kernel)
{
    const struct linrec_kernel *row = which;
    kernel->runs[FORWARD] = row->forward != NULL;
    kernel->runs[REVERSE] = row->forward != NULL && row->reverse;
    kernel->runs[BACKWARD] = row->backward != NULL;
    kernel->runs[BACKWARD_REVERSE] = row->backward != NULL && row->reverse;
    if (!row->states)
        kernel->lacks = choice_of_array(LINREC_INITIAL_STATE) | choice_of_array(LINREC_FINAL_STATE) |
                        choice_of_array(LINREC_D_FINAL_STATE);
    kernel->kinds_left_out = row->finite_products ? 1u << DATA_OVERFLOW : 0;
    if (row->max_seq_len != 0)
        snprintf(kernel->limits, sizeof kernel->limits, "length up to %zu", row->max_seq_len);
}

static cudaError_t launch(const void *which, const struct problem *problem, cudaStream_t stream)
{
    const struct linrec_kernel *row = which;
    const struct linrec_args args = linrec_args_of(problem);
    return (is_backward(problem->direction) ? row->backward : row->forward)(&args, stream);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    const struct linrec_kernel *row = which;
    const size_t num_seqs = sizes[NUM_SEQS], seq_len = sizes[SEQ_LEN];
    const struct linrec_args args = {.num_seqs = num_seqs, .seq_len = seq_len};
    if (row->max_seq_len != 0 && seq_len > row->max_seq_len)
        snprintf(why, size, "takes sequences of up to %zu elements, not %zu", row->max_seq_len, seq_len);
    else if (row->max_num_seqs != 0 && num_seqs > row->max_num_seqs)
        snprintf(why, size, "takes up to %zu sequences, not %zu", row->max_num_seqs, num_seqs);
    else if (row->max_elems != 0 && num_seqs != 0 && seq_len > row->max_elems / num_seqs)
        snprintf(why, size, "takes up to %zu elements, not %zu times %zu", row->max_elems, num_seqs, seq_len);
    else if (row->has_room != NULL && !row->has_room(&args))
        snprintf(why, size, "takes what the chip has room for at once, not %zu times %zu elements", num_seqs, seq_len);
    else
        return false;
    return true;
}

static size_t workspace_size(const void *which, const struct problem *problem)
{
    const struct linrec_kernel *row = which;
    const struct linrec_args args = linrec_args_of(problem);
    return row->workspace_size != NULL ? row->workspace_size(&args) : 0;
}

static int levels(const void *which, const struct problem *problem)
{
    const struct linrec_kernel *row = which;
    return row->levels != NULL ? row->levels(problem->sizes[SEQ_LEN]) : 1;
}

static void owner(const void *which, const struct problem *problem, int array, const size_t position[MAX_DIMS],
                  char *text, size_t size)
{
    const struct linrec_kernel *row = which;
    const struct linrec_args args = linrec_args_of(problem);
    if (row->owner != NULL && linrec_operation.arrays[array].num_dims == 2)
        row->owner(&args, position[NUM_SEQS], position[SEQ_LEN], text, size);
}

/* ---- shapes ---- */

void linrec_lengths(const struct machine *machine, size_t num_seqs, struct shapes *shapes)
{
    const size_t longest = machine->backend == ON_SIM ? 4096 : 65536;
    size_t sizes[MAX_SIZES] = {[NUM_SEQS] = num_seqs};
    for (sizes[SEQ_LEN] = 16; sizes[SEQ_LEN] <= longest; sizes[SEQ_LEN] *= 2)
        shapes_add(shapes, sizes);
    sizes[SEQ_LEN] = 1001; /* rows that start at any multiple of 4 bytes */
    if (machine->backend == ON_SIM)
        shapes_add(shapes, sizes);
}

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    const size_t num_seqs = machine->backend == ON_CUDA  ? 100 * (size_t)machine->device.multiProcessorCount
                            : machine->backend == ON_SIM ? 4
                                                         : 64;
    linrec_lengths(machine, num_seqs, shapes);
}

#define ROWS .num_dims = 2, .dims = {NUM_SEQS, SEQ_LEN}
#define EACH_ROW .num_dims = 1, .dims = {NUM_SEQS}

const struct operation linrec_operation = {
    .name = "linear recurrence",
    .num_sizes = 2,
    .sizes =
        {
            [NUM_SEQS] = {"num_seqs", "number of sequences", "number of sequences", .is_list = false},
            [SEQ_LEN] = {"seq_len", "length", "elements per sequence", .is_list = true},
        },
    .num_arrays = 10,
    .arrays =
        {
            [LINREC_D_OUTPUTS] = {"d_outputs", "DY", UNTOUCHED, READ, ROWS},
            [LINREC_INPUTS] = {"inputs", "X", READ, UNTOUCHED, ROWS},
            [LINREC_COEFFS] = {"coeffs", "C", READ, READ, ROWS},
            [LINREC_OUTPUTS] = {"outputs", "Y", WRITTEN, READ, ROWS},
            [LINREC_D_INPUTS] = {"d_inputs", "DX", UNTOUCHED, WRITTEN, ROWS},
            [LINREC_D_COEFFS] = {"d_coeffs", "DC", UNTOUCHED, WRITTEN, ROWS},
            [LINREC_INITIAL_STATE] = {"initial_state", "S", READ, READ, .optional = true, EACH_ROW},
            [LINREC_FINAL_STATE] = {"final_state", "F", WRITTEN, UNTOUCHED, .optional = true, EACH_ROW},
            [LINREC_D_FINAL_STATE] = {"d_final_state", "DF", UNTOUCHED, READ, .optional = true, EACH_ROW},
            [LINREC_D_INITIAL_STATE] = {"d_initial_state", "DS", UNTOUCHED, WRITTEN, .goes_with = "initial_state",
                                        EACH_ROW},
        },
    .default_shapes = default_shapes,
    .filled = "coefficients",
    .num_kinds = DATA_NUM_KINDS,
    .timed_kind = DATA_UNIFORM,    /* forgets */
    .hardest_kind = DATA_NEAR_ONE, /* long memory */
    .kind_name = kind_name,
    .kind_fits = kind_fits,
    .fill = fill,
    .device_fill = device_fill,
    .check = check,
    .device_check = linrec_device_check,
    .copy = {{COPY, {LINREC_INPUTS, LINREC_OUTPUTS}}, {COPY, {LINREC_D_OUTPUTS, LINREC_D_INPUTS}}},
    .add = {{ADD, {LINREC_INPUTS, LINREC_COEFFS, LINREC_OUTPUTS}},
            {ADD5, {LINREC_D_OUTPUTS, LINREC_COEFFS, LINREC_OUTPUTS, LINREC_D_INPUTS, LINREC_D_COEFFS}}},
    .row_bytes = sizeof(struct linrec_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
    .workspace_size = workspace_size,
    .contract = linrec_contract,
    .levels = levels,
    .owner = owner,
};
