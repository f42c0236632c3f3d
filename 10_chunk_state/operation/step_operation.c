/* SPDX-License-Identifier: MIT */
/* step_operation.c - one position of a chunkwise layer as an operation of the harness (common/harness/operation.h). */
#include <float.h>
#include <stdio.h>

#include "../../common/harness/arrays.h"
#include "../../common/harness/machine.h"
#include "../../common/harness/operation.h"
#include "../../common/linrec/linrec_data.h"
#include "../kernels/kernels.h"

enum { T_BATCH, T_HEADS, T_DK, T_DV, T_DECAYS, T_NUM_SLOTS };
enum { T_Q, T_K, T_V, T_GAMMA, T_W, T_Y, T_STATE, T_SLOTS, T_OUT, T_NEW_STATE, T_NUM_ARRAYS };

/* ---- test data ---- */

/* What the decays look like. */
enum {
    UNIFORM,   /* in [0, 1); every row has a slot */
    STRONG,    /* one in three is 0, one in three 1e-30; one row in four is empty, as below */
    NONFINITE, /* one in five is a NaN or an infinity */
    NUM_KINDS
};

static const char *kind_name(int kind)
{
    static const char *const names[NUM_KINDS] = {"uniform", "strong", "nonfinite"};
    return names[kind];
}

static float value_of(const struct problem *problem, const struct data *data, int array, size_t i)
{
    const uint64_t seed = data->seed + 100 * (uint64_t)array, special = data_hash(seed, DATA_SPECIAL, i);
    if (array == T_SLOTS) /* the last slots come first, so that no row has its own number by chance but one */
        return data->kind != UNIFORM && i % 4 == 2 ? -1.0f : (float)(problem->sizes[T_NUM_SLOTS] - 1 - i);
    if (array != T_GAMMA)
        return data_normal(seed, DATA_INPUTS, i);
    if (data->kind == STRONG && special % 3 != 0)
        return special % 3 == 1 ? 0.0f : 1e-30f;
    if (data->kind == NONFINITE && special % 5 == 0)
        return (special >> 8) % 2 == 0 ? (float)NAN : (float)INFINITY;
    return data_uniform(seed, DATA_COEFFS, i);
}

static void fill(const struct problem *problem, const struct data *data)
{
    for (int a = 0; a < T_NUM_ARRAYS; a++)
        for (size_t i = 0; array_is_read(problem, a) && i < array_count(&problem->operation->arrays[a], problem->sizes);
             i++)
            array_set(problem, a, i, value_of(problem, data, a, i));
}

/* ---- the kernel ---- */

static struct chunk_step_args args_of(const struct problem *problem)
{
    void *const *arrays = problem->arrays;
    return (struct chunk_step_args){.batch = problem->sizes[T_BATCH],
                                    .heads = problem->sizes[T_HEADS],
                                    .dk = problem->sizes[T_DK],
                                    .dv = problem->sizes[T_DV],
                                    .num_slots = problem->sizes[T_NUM_SLOTS],
                                    .decays = problem->sizes[T_DECAYS],
                                    .slots = arrays[T_SLOTS],
                                    .dtype = problem->dtype,
                                    .q = arrays[T_Q],
                                    .k = arrays[T_K],
                                    .v = arrays[T_V],
                                    .gamma = arrays[T_GAMMA],
                                    .W = arrays[T_W],
                                    .Y = arrays[T_Y],
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
    const struct chunk_step_kernel *row = which;
    const struct chunk_step_args args = args_of(problem);
    return row->step(&args, stream);
}

static bool refuses(const void *which, const size_t sizes[MAX_SIZES], char *why, size_t size)
{
    (void)which;
    if (sizes[T_DK] < 1 || sizes[T_DK] > CHUNK_STEP_MAX_ROWS)
        snprintf(why, size, "takes 1 to %d rows, not %zu", CHUNK_STEP_MAX_ROWS, sizes[T_DK]);
    else if (sizes[T_DECAYS] != 1 && sizes[T_DECAYS] != sizes[T_DK])
        snprintf(why, size, "takes one decay for each of the %zu rows, or 1, not %zu", sizes[T_DK], sizes[T_DECAYS]);
    else if (sizes[T_BATCH] > sizes[T_NUM_SLOTS])
        snprintf(why, size, "takes a slot for each row, so at least %zu, not %zu", sizes[T_BATCH], sizes[T_NUM_SLOTS]);
    else
        return false;
    return true;
}

/* All arrays once, and of the states those of the rows. What lies in other slots is not moved. */
static double bytes(const struct problem *problem)
{
    const size_t *const sizes = problem->sizes;
    double sum = 8.0 * (double)sizes[T_BATCH] * (double)sizes[T_HEADS] * (double)(sizes[T_DK] * sizes[T_DV]);
    for (int a = 0; a < T_NUM_ARRAYS; a++)
        if (problem->arrays[a] != NULL && a != T_STATE && a != T_NEW_STATE)
            sum += (double)array_count(&problem->operation->arrays[a], sizes) *
                   (double)array_element_bytes(&problem->operation->arrays[a], problem->dtype);
    return sum;
}

/* ---- what is right ---- */

/* One column of a head: the loop in double precision. With u = 2^-24 and sums in any order

       p = Y^T h                                   (dk + 1) u |Y|^T |h|                                       = ep
       h = gamma h + k v - W p                     |W| ep + 4 u (|gamma h| + |k v| + |W p|)                   = eh
       out = h^T q                                 |q|^T eh + (dk + 1) u |q|^T |h|

   and FLT_MIN for what underflows. */
static void check_column(const struct chunk_step_args *args, size_t row, size_t head, size_t column, size_t slot,
                         struct finding *finding)
{
    const size_t dk = args->dk, at = (row * args->heads + head) * dk;
    const size_t state = (slot * args->heads + head) * dk * args->dv + column;
    const size_t out_at = (row * args->heads + head) * args->dv + column;
    const double u = 0x1p-24, more = ((double)dk + 1) * u, v = dtype_get(args->dtype, args->v, out_at);
    double p = 0.0, ep = 0.0, out = 0.0, error = 0.0;
    for (size_t i = 0; i < dk && args->Y != NULL; i++) {
        const double term = dtype_get(args->dtype, args->Y, at + i) * (double)args->state[state + i * args->dv];
        p += term, ep += more * fabs(term);
    }
    for (size_t i = 0; i < dk; i++) {
        const double w = args->W != NULL ? dtype_get(args->dtype, args->W, at + i) : 0.0;
        const double gamma = args->gamma[args->decays == 1 ? row * args->heads + head : at + i];
        const double kept = gamma * (double)args->state[state + i * args->dv];
        const double added = dtype_get(args->dtype, args->k, at + i) * v, q = dtype_get(args->dtype, args->q, at + i);
        const double h = kept + added - w * p;
        const double eh = fabs(w) * ep + 4 * u * (fabs(kept) + fabs(added) + fabs(w * p)) + (double)FLT_MIN;
        finding_add(finding, T_NEW_STATE, state + i * args->dv, args->new_state[state + i * args->dv], h, 1.01 * eh);
        out += q * h, error += fabs(q) * (eh + more * fabs(h));
    }
    finding_add_stored(finding, T_OUT, out_at, args->dtype, args->out, out, 1.01 * error + (double)FLT_MIN);
}

/* What must not be touched is still the poison that the harness has written there before the launch. */
static void check_untouched(enum dtype dtype, const void *values, size_t first, size_t count, int array,
                            struct finding *finding)
{
    for (size_t i = first; i < first + count; i++)
        if (!is_poison(dtype_get(dtype, values, i)))
            finding_add(finding, array, i, dtype_get(dtype, values, i), NAN, 0.0);
}

static long long slot_of(const struct chunk_step_args *args, size_t row)
{
    const long long slot = args->slots != NULL ? args->slots[row] : (long long)row;
    return slot < (long long)args->num_slots ? slot : -1;
}

/* Of a large problem some rows and slots. */
static void check(const struct problem *problem, const struct data *data, int levels, struct finding *finding)
{
    const struct chunk_step_args args = args_of(problem);
    const size_t outputs = args.heads * args.dv, state = outputs * args.dk;
    const size_t every = args.batch / (((size_t)1 << 22) / (state + 1) + 2) + 1;
    (void)data, (void)levels;
    for (size_t row = 0; row < args.batch; row += every) {
        const long long slot = slot_of(&args, row);
        if (slot < 0)
            check_untouched(args.dtype, args.out, row * outputs, outputs, T_OUT, finding);
        for (size_t i = 0; i < outputs && slot >= 0; i++)
            check_column(&args, row, i / args.dv, i % args.dv, (size_t)slot, finding);
    }
    for (size_t slot = 0; slot < args.num_slots; slot += every) {
        bool is_free = true;
        for (size_t row = 0; row < args.batch && is_free; row++)
            is_free = slot_of(&args, row) != (long long)slot;
        if (is_free)
            check_untouched(FLOAT32, args.new_state, slot * state, state, T_NEW_STATE, finding);
    }
}

/* ---- shapes ---- */

static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    static const size_t on_gpu[][MAX_SIZES] = {
        {256, 16, 128, 128, 128, 256}, {64, 16, 128, 128, 1, 64}, {64, 64, 128, 64, 1, 64}, {8, 16, 256, 512, 1, 8}};
    static const size_t on_sim[][MAX_SIZES] = {
        {5, 2, 3, 5, 3, 7}, {3, 1, 33, 20, 1, 3}, {2, 1, 130, 4, 130, 4}, {2, 2, 70, 18, 1, 2}};
    for (int i = 0; i < 4; i++)
        shapes_add(shapes, machine->backend == ON_CUDA ? on_gpu[i] : on_sim[i]);
}

/* As many slots as rows, and one decay for each row if there was one for each, if nobody says how many there are. */
static void settle(size_t sizes[MAX_SIZES], const bool given[MAX_SIZES])
{
    if (given[T_BATCH] && !given[T_NUM_SLOTS])
        sizes[T_NUM_SLOTS] = sizes[T_BATCH];
    if (!given[T_DECAYS] && sizes[T_DECAYS] != 1)
        sizes[T_DECAYS] = sizes[T_DK];
}

#define OF_ROWS .stored = true, .num_dims = 3, .dims = {T_BATCH, T_HEADS, T_DK}
#define OF_COLUMNS .stored = true, .num_dims = 3, .dims = {T_BATCH, T_HEADS, T_DV}
#define SLOTS .num_dims = 4, .dims = {T_NUM_SLOTS, T_HEADS, T_DK, T_DV}

const struct operation chunk_step_operation = {
    .name = "one position of a chunkwise layer",
    .asked_by = "step",
    .pass = "step",
    .num_sizes = 6,
    .sizes = {[T_BATCH] = {"batch", "batch", "rows of the batch", .is_list = false},
              [T_HEADS] = {"heads", "number of heads", "heads, each with a state", .is_list = false},
              [T_DK] = {"dk", "number of rows", "rows of a state", .is_list = false},
              [T_DV] = {"dv", "number of columns", "columns of a state", .is_list = false},
              [T_DECAYS] = {"decays", "number of decays", "decays of a state: dk or 1", .is_list = false},
              [T_NUM_SLOTS] = {"num_slots", "number of slots", "slots, each with the states of a text",
                               .is_list = false}},
    .num_arrays = T_NUM_ARRAYS,
    .arrays = {[T_Q] = {"q", "Q", READ, UNTOUCHED, OF_ROWS},
               [T_K] = {"k", "K", READ, UNTOUCHED, OF_ROWS},
               [T_V] = {"v", "V", READ, UNTOUCHED, OF_COLUMNS},
               [T_GAMMA] = {"gamma", "G", READ, UNTOUCHED, .num_dims = 3, .dims = {T_BATCH, T_HEADS, T_DECAYS}},
               [T_W] = {"W", "W", READ, UNTOUCHED, .optional = true, .timed = true, OF_ROWS},
               [T_Y] = {"Y", "Y", READ, UNTOUCHED, .goes_with = "W", OF_ROWS},
               [T_STATE] = {"state", "H", READ, UNTOUCHED, SLOTS},
               [T_SLOTS] = {"slots", "SLOTS", READ, UNTOUCHED, .optional = true, .timed = true, .integers = true,
                            .num_dims = 1, .dims = {T_BATCH}},
               [T_OUT] = {"out", "OUT", WRITTEN, UNTOUCHED, OF_COLUMNS},
               [T_NEW_STATE] = {"new_state", "N", WRITTEN, UNTOUCHED, SLOTS}},
    .default_shapes = default_shapes,
    .settle = settle,
    .filled = "decays",
    .num_kinds = NUM_KINDS,
    .timed_kind = UNIFORM,
    .hardest_kind = STRONG,
    .kind_name = kind_name,
    .fill = fill,
    .check = check,
    .device_check = host_check,
    .device_samples = true,
    .bytes = bytes,
    .copy = {{COPY, {T_STATE, T_NEW_STATE}}},
    .row_bytes = sizeof(struct chunk_step_kernel),
    .describe = describe,
    .launch = launch,
    .refuses = refuses,
};
