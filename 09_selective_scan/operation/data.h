/* SPDX-License-Identifier: MIT */
/* data.h - the arrays of the selective scan by number, and their test data, the same bits on host and device: only
   operations that are exact, or that round once, however a compiler joins them. */
#ifndef SELECTIVE_DATA_H
#define SELECTIVE_DATA_H

#include "../../common/harness/operation.h"

#include "../../common/linrec/linrec_data.h"
#include "arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its sizes, arrays and flags, as operation.c numbers them. */
enum { BATCH, CHANNELS, STATES, GROUPS, SEQ_LEN };
enum selective_array {
    S_D_OUT,
    S_D_FINAL_STATE,
    S_U,
    S_DELTA,
    S_A,
    S_B,
    S_C,
    S_D,
    S_Z,
    S_DELTA_BIAS,
    S_INITIAL_STATE,
    S_OUT,
    S_FINAL_STATE,
    S_D_U,
    S_D_DELTA,
    S_D_A,
    S_D_B,
    S_D_C,
    S_D_D,
    S_D_Z,
    S_D_DELTA_BIAS,
    S_D_INITIAL_STATE,
    S_NUM_ARRAYS,
    S_STARTS = S_NUM_ARRAYS /* of packed sequences alone */
};
enum { DELTA_SOFTPLUS };

/* Very long sequences forget everything at each multiple of this many steps, so that what lies between two of them can
   be checked alone. 0: they do not. */
size_t selective_window(size_t seq_len);

/* Writes the test data of all arrays that the pass reads, on the device (data.cu). Does not wait. */
cudaError_t selective_device_fill(const struct problem *problem, const struct data *data);

#ifdef __cplusplus
}
#endif

enum selective_data {
    ORDINARY,    /* as Mamba begins: steps of 0.001 to 0.06 after softplus, A = -1 ... -states: what is timed */
    LONG_MEMORY, /* A near -0.01: a step forgets next to nothing, so a lost carry shows */
    FORGETTING,  /* steps up to 8: coefficients next to 0, or 0 */
    ZERO_STEPS,  /* every other step is 0, or softplus of -200: the state stays as it is */
    LARGE,       /* delta and z far out in softplus and silu, the others some hundreds */
    GROWING,     /* A of either sign; for short sequences only */
    NONFINITE,   /* as ordinary, with an infinity, NaN or 0 in each batch, which must stay where it belongs */
    NUM_SELECTIVE_DATA
};

/* What the test data of a problem depend on. */
struct selective_spec {
    uint64_t seed;
    enum selective_data kind;
    bool softplus;
    size_t sizes[5];
};

/* All arrays have one seed, so the array's number is added: else they would hold the same numbers. */
static inline HOST_DEVICE float selective_normal(const struct selective_spec *spec, int array, size_t index)
{
    return data_normal(spec->seed + 100 * (uint64_t)array, DATA_INPUTS, index);
}

static inline HOST_DEVICE float selective_uniform(const struct selective_spec *spec, int array, size_t index)
{
    return data_uniform(spec->seed + 100 * (uint64_t)array, DATA_COEFFS, index);
}

/* What NONFINITE data have in place of an element, if it is that one: infinity, -infinity, NaN or 0. Each batch has one
   such element in one of the arrays that are its own; or in place of batch 0, all batches have one in A, D or
   delta_bias, which they share. It stands first in a row, last, or anywhere. A seed and the next ones, as many as there
   are cases, are all cases for each batch. */
enum { SELECTIVE_SPECIAL_CASES = 11 * 4 * 3 };

/* The arrays that may have one, numbered; -1: another array. */
static inline HOST_DEVICE int selective_special_array(int array)
{
    switch (array) {
    case S_DELTA:
        return 0;
    case S_A:
        return 1;
    case S_U:
        return 2;
    case S_D_OUT:
        return 3;
    case S_B:
        return 4;
    case S_DELTA_BIAS:
        return 5;
    case S_C:
        return 6;
    case S_Z:
        return 7;
    case S_INITIAL_STATE:
        return 8;
    case S_D:
        return 9;
    case S_D_FINAL_STATE:
        return 10;
    default:
        return -1;
    }
}

static inline HOST_DEVICE bool selective_is_special(const struct selective_spec *spec, int array, size_t index,
                                                    float *value)
{
    const size_t *const sizes = spec->sizes;
    const bool of_groups = array == S_B || array == S_C, of_channels = array == S_D || array == S_DELTA_BIAS;
    const bool of_states = array == S_A || array == S_INITIAL_STATE || array == S_D_FINAL_STATE;
    const size_t rows = of_groups ? sizes[GROUPS] * sizes[STATES] : sizes[CHANNELS]; /* of a batch */
    const size_t row = of_states ? sizes[STATES] : of_channels ? 1 : sizes[SEQ_LEN];
    const size_t batch = index / row / rows, which = (size_t)(spec->seed + 41 * batch) % SELECTIVE_SPECIAL_CASES;
    const size_t value_number = which / 11 % 4, place = which / 44; /* 41 and 132 have no factor in common */
    const uint64_t hash = data_hash(spec->seed, DATA_SPECIAL, batch);
    *value = value_number == 0 ? INFINITY : value_number == 1 ? -INFINITY : value_number == 2 ? NAN : 0.0f;
    return selective_special_array(array) == (int)(which % 11) && index / row % rows == hash % rows &&
           index % row == (place == 0   ? 0
                           : place == 1 ? row - 1
                                        : (size_t)(hash >> 32) % row);
}

/* What softplus or the step itself gets. */
static inline HOST_DEVICE float selective_delta(const struct selective_spec *spec, size_t index)
{
    const float uniform = selective_uniform(spec, S_DELTA, index);
    const uint64_t hash = data_hash(spec->seed, DATA_SPECIAL, index);
    switch (spec->kind) {
    case FORGETTING:
        return uniform * 8;
    case LARGE:
        return spec->softplus ? uniform * 64 - 32 : uniform * 32;
    case ZERO_STEPS:
        if (hash % 2 == 0)
            return spec->softplus ? -200.0f : 0.0f;
        break;
    default:
        break;
    }
    if (spec->softplus)
        return uniform * 4 - 6.75f;                         /* steps of 0.001 to 0.06, all sizes alike */
    return (1 + uniform) / (float)(16 << (hash >> 32) % 7); /* 2^-10 to 2^-3 */
}

/* Where packed sequence s starts, of as many as the first size says. Later ones are longer, and the first may be
   empty. */
static inline HOST_DEVICE size_t selective_start(const struct selective_spec *spec, size_t s)
{
    const double t = (double)s / (double)spec->sizes[BATCH];
    return (size_t)((double)spec->sizes[SEQ_LEN] * t * t);
}

/* Element `index` of an array. */
static inline HOST_DEVICE float selective_value(const struct selective_spec *spec, int array, size_t index,
                                                size_t window)
{
    const size_t seq_len = spec->sizes[SEQ_LEN], states = spec->sizes[STATES];
    const bool forgets = window != 0 && index % seq_len != 0 && index % seq_len % window == 0;
    const float scale = spec->kind == LARGE ? 256.0f : 1.0f;
    float special;
    if (spec->kind == NONFINITE && selective_is_special(spec, array, index, &special))
        return special;
    switch (array) {
    case S_STARTS:
        return (float)selective_start(spec, index);
    case S_DELTA:
        return forgets ? 32768.0f : selective_delta(spec, index);
    case S_U:
        return forgets ? 0.0f : scale * selective_normal(spec, array, index);
    case S_A:
        return spec->kind == GROWING       ? 2 * selective_uniform(spec, array, index) - 1
               : spec->kind == LONG_MEMORY ? (-1 - selective_uniform(spec, array, index)) / 128
                                           : -(float)(index % states + 1);
    case S_DELTA_BIAS:
        return spec->kind == ZERO_STEPS ? 0.0f
               : spec->softplus         ? selective_normal(spec, array, index) / 4
                                        : selective_uniform(spec, array, index) / 1024;
    case S_Z:
        return spec->kind == LARGE ? 32 * selective_normal(spec, array, index) : selective_normal(spec, array, index);
    default:
        return scale * selective_normal(spec, array, index);
    }
}

static inline struct selective_spec selective_spec_of(const struct problem *problem, const struct data *data)
{
    struct selective_spec spec;
    spec.seed = data->seed;
    spec.kind = (enum selective_data)data->kind;
    spec.softplus = problem->flags[DELTA_SOFTPLUS];
    for (int s = 0; s < 5; s++)
        spec.sizes[s] = problem->sizes[s];
    return spec;
}

#endif
