/* SPDX-License-Identifier: MIT */
/* layer_data.h - the layer's arrays by number, and their test data, the same bits on host and device: only operations
   that are exact, or that round once, however a compiler joins them. */
#ifndef LAYER_DATA_H
#define LAYER_DATA_H

#include "../../common/linrec/linrec_data.h"
#include "layer_arguments.h"

/* Its sizes, arrays and flags, as they are numbered (layer_operation.c). Packed, the first size is the number of
   sequences, and the only batch is no size. */
enum { BATCH, SEQ_LEN, HEADS, DK, DV, GROUPS, NUM_LAYER_SIZES, NUM_SEQS = BATCH };
enum layer_array {
    LAYER_X,
    LAYER_Z,
    LAYER_DT,
    LAYER_A,
    LAYER_B,
    LAYER_C,
    LAYER_D,
    LAYER_DT_BIAS,
    LAYER_INITIAL_STATE,
    LAYER_OUT,
    LAYER_FINAL_STATE,
    LAYER_D_OUT, /* here the arrays of the backward pass begin */
    LAYER_D_FINAL_STATE,
    LAYER_D_X,
    LAYER_D_Z,
    LAYER_D_DT,
    LAYER_D_A,
    LAYER_D_B,
    LAYER_D_C,
    LAYER_D_D,
    LAYER_D_DT_BIAS,
    LAYER_D_INITIAL_STATE,
    NUM_LAYER_ARRAYS,
    LAYER_STARTS = NUM_LAYER_ARRAYS /* of packed sequences one more */
};
enum { DT_SOFTPLUS };

/* What the data look like. Steps s last 0.001 to 0.1, all sizes alike, where nothing else is said. */
enum layer_kind {
    LAYER_ORDINARY,  /* as Mamba-2 begins: A in [-16, -1]; what is timed */
    LAYER_NEAR_ONE,  /* A near -1/256: exp(s A) within 2^-10 of 1, so a lost state shows */
    LAYER_STRONG,    /* as ordinary, but one step in eight lasts 64: decays down to exp(-1024), which is 0 */
    LAYER_NONFINITE, /* as strong, and in every other sequence one head has one NaN or infinity in x */
    NUM_LAYER_KINDS
};

struct layer_spec {
    uint64_t seed;
    int kind;
    bool packed, softplus;
    size_t sizes[NUM_LAYER_SIZES];
};

/* What softplus, or the step itself, gets. */
static inline HOST_DEVICE float layer_dt(const struct layer_spec *spec, size_t i)
{
    const uint64_t seed = spec->seed + 100 * (uint64_t)LAYER_DT, hash = data_hash(seed, DATA_SPECIAL, i);
    const float uniform = data_uniform(seed, DATA_COEFFS, i);
    if ((spec->kind == LAYER_STRONG || spec->kind == LAYER_NONFINITE) && hash % 8 == 0)
        return 64.0f;
    if (spec->softplus)
        return uniform * 4 - 6.75f;                                /* steps of 0.001 to 0.06 */
    return (1 + uniform * 0.5f) / (float)(16 << (hash >> 32) % 7); /* 2^-10 to 0.094 */
}

/* Where packed sequence s starts, s up to num_seqs: many short ones, of which some may be empty, then few long ones. */
static inline HOST_DEVICE size_t layer_start(const struct layer_spec *spec, size_t s)
{
    const double t = (double)s / (double)spec->sizes[NUM_SEQS], t2 = t * t;
    return (size_t)((double)spec->sizes[SEQ_LEN] * (t2 * t2));
}

/* The sequence of a step, counted from the first one of all. */
static inline HOST_DEVICE size_t layer_sequence(const struct layer_spec *spec, size_t step)
{
    size_t low = 0, high = spec->sizes[NUM_SEQS]; /* the last one that starts there or before */
    while (spec->packed && low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (layer_start(spec, middle) <= step)
            low = middle;
        else
            high = middle;
    }
    return spec->packed ? low : step / spec->sizes[SEQ_LEN];
}

/* Whether element i of x is the one that is NaN or infinite. */
static inline HOST_DEVICE bool layer_is_special(const struct layer_spec *spec, size_t i)
{
    const size_t row = spec->sizes[HEADS] * spec->sizes[DV], seq = layer_sequence(spec, i / row);
    const size_t first = spec->packed ? layer_start(spec, seq) : seq * spec->sizes[SEQ_LEN];
    const size_t length = spec->packed ? layer_start(spec, seq + 1) - first : spec->sizes[SEQ_LEN];
    const uint64_t hash = data_hash(spec->seed, DATA_SPECIAL, seq);
    return (seq + spec->seed) % 2 == 0 && i % row == hash % row && i / row - first == (hash >> 32) % length;
}

/* Element i of an array that is read. */
static inline HOST_DEVICE float layer_value(const struct layer_spec *spec, int array, size_t i)
{
    const uint64_t seed = spec->seed + 100 * (uint64_t)array;
    switch (array) {
    case LAYER_DT:
        return layer_dt(spec, i);
    case LAYER_A:
        return spec->kind == LAYER_NEAR_ONE ? (-1 - data_uniform(seed, DATA_COEFFS, i)) / 512
                                            : (float)(16 + data_hash(seed, DATA_SPECIAL, i) % 241) / -16;
    case LAYER_DT_BIAS:
        return spec->softplus ? data_normal(seed, DATA_INPUTS, i) / 4 : data_uniform(seed, DATA_COEFFS, i) / 1024;
    case LAYER_X:
        if (spec->kind == LAYER_NONFINITE && layer_is_special(spec, i))
            return data_hash(seed, DATA_SPECIAL, i) % 2 == 0 ? (float)NAN : (float)INFINITY;
        return data_normal(seed, DATA_INPUTS, i);
    default:
        return data_normal(seed, DATA_INPUTS, i);
    }
}

/* ---- the same on the device, for shapes of any size (layer_data.cu) ---- */

struct finding;

#ifdef __cplusplus
extern "C" {
#endif

/* Fills an array of `count` elements. Does not wait. */
cudaError_t layer_fill_array(const struct layer_spec *spec, int array, enum dtype dtype, void *values, size_t count);

/* Compares rows of dv with the oracle: all of them, or of more than some thousand the first, the last, and others that
   the seed draws. Sets all of *finding, which is on the device. Does not wait. */
cudaError_t layer_device_check(const struct layer_args *args, size_t chunk, uint64_t seed, struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
