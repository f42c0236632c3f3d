/* SPDX-License-Identifier: MIT */
/* data.h - the test data of chapter 13, the same bits on host and device. */
#ifndef LAYOUT_DATA_H
#define LAYOUT_DATA_H

#include "../../common/linrec/linrec_data.h"
#include "arguments.h"

/* The operation's sizes and arrays, as they are numbered (operation.c). Packed, the first size is the number of
   sequences, and the only batch is no size. */
enum { BATCH, SEQ_LEN, CHANNELS, NUM_SEQS = BATCH };
enum layout_array {
    L_D_OUTPUTS,
    L_INPUTS,
    L_COEFFS,
    L_OUTPUTS,
    L_D_INPUTS,
    L_D_COEFFS,
    L_INITIAL_STATE,
    L_FINAL_STATE,
    L_D_FINAL_STATE,
    L_D_INITIAL_STATE,
    L_STARTS,
    NUM_LAYOUT_ARRAYS
};

/* What the coefficients look like; in brackets their logarithms. */
enum layout_kind {
    LAYOUT_UNIFORM,   /* c in [0, 1) (g in (-2, 0]): forgets after some tens of steps */
    LAYOUT_NEAR_ONE,  /* in (1 - 2^-10, 1] (g in (-2^-10, 0]): long memory, so a lost carry shows */
    LAYOUT_SIGNED,    /* in [-1, 1) (g in (-40, 0]: forgets nearly all in one step) */
    LAYOUT_ZEROS,     /* as signed, but one in eight is zero (-1000: e^g underflows) */
    LAYOUT_NAN_FIRST, /* as signed, but the first coefficient of a sequence, which only a state may meet, is NaN */
    LAYOUT_NONFINITE, /* as zeros, and every other channel of a sequence holds one NaN or infinity somewhere */
    LAYOUT_NUM_KINDS
};

struct layout_spec {
    uint64_t seed;
    int kind;
    bool packed, backward, reverse, log_coeffs;
    size_t num_seqs, seq_len, channels; /* seq_len: packed, of all sequences together */
};

/* Where packed sequence s starts, s up to num_seqs. What is timed has few long sequences and many short ones, of one
   step at least; the others have empty ones, too. */
static inline HOST_DEVICE size_t layout_start(const struct layout_spec *spec, size_t s)
{
    const double t = (double)s / (double)spec->num_seqs, t2 = t * t, t4 = t2 * t2;
    if (spec->kind == LAYOUT_UNIFORM && spec->seq_len >= spec->num_seqs)
        return s + (size_t)((double)(spec->seq_len - spec->num_seqs) * (t4 * t4));
    return (size_t)((double)spec->seq_len * t2);
}

/* The sequence of a step of all that are packed. */
static inline HOST_DEVICE size_t layout_sequence(const struct layout_spec *spec, size_t step)
{
    size_t low = 0, high = spec->num_seqs; /* the last one that starts there or before */
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (layout_start(spec, middle) <= step)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Element i of an array that a pass reads, but for the starts, which layout_start says. */
static inline HOST_DEVICE float layout_value(const struct layout_spec *spec, int array, size_t i)
{
    const bool log = spec->log_coeffs;
    const uint64_t seed = spec->seed + 100 * (uint64_t)array;
    size_t seq, step, length;

    if (array == L_INITIAL_STATE || array == L_D_FINAL_STATE) {
        if (spec->kind == LAYOUT_NONFINITE && i % 4 == (array == L_INITIAL_STATE ? 1 : 3))
            return data_hash(seed, DATA_SPECIAL, i) % 2 == 0 ? (float)NAN : (float)INFINITY;
        return data_normal(seed, DATA_INPUTS, i);
    }
    const size_t row = i / spec->channels, channel = i % spec->channels;
    if (spec->packed) {
        seq = layout_sequence(spec, row);
        step = row - layout_start(spec, seq);
        length = layout_start(spec, seq + 1) - layout_start(spec, seq);
    } else {
        seq = row / spec->seq_len;
        step = row % spec->seq_len;
        length = spec->seq_len;
    }
    if (spec->kind == LAYOUT_NONFINITE && (seq + channel) % 2 == 0) {
        const uint64_t special = data_hash(spec->seed, DATA_SPECIAL, seq * spec->channels + channel);
        const int in_backward = (special >> 1) % 2 == 0 ? L_D_OUTPUTS : L_OUTPUTS;
        const bool hit = special % 2 == 0 ? array == L_COEFFS : array == (spec->backward ? in_backward : L_INPUTS);
        if (hit && step == (special >> 8) % length)
            return (special >> 2) % 2 == 0 ? (float)NAN : (float)INFINITY;
    }
    if (array != L_COEFFS)
        return data_normal(seed, DATA_INPUTS, i);
    const float uniform = data_uniform(seed, DATA_COEFFS, i);
    const bool is_first = step == (spec->reverse ? length - 1 : 0);
    const bool is_zero =
        (spec->kind == LAYOUT_ZEROS || spec->kind == LAYOUT_NONFINITE) && data_hash(seed, DATA_SPECIAL, i) % 8 == 0;
    if (spec->kind == LAYOUT_NAN_FIRST && is_first)
        return (float)NAN;
    if (is_zero)
        return log ? -1000.0f : 0.0f;
    if (spec->kind == LAYOUT_NEAR_ONE)
        return log ? uniform * -0x1p-10f : 1.0f - uniform * 0x1p-10f;
    if (spec->kind == LAYOUT_UNIFORM)
        return log ? uniform * -2.0f : uniform;
    return log ? uniform * -40.0f : 2.0f * uniform - 1.0f;
}

/* ---- the same on the device, for shapes of any size (data.cu) ---- */

struct finding;

#ifdef __cplusplus
extern "C" {
#endif

/* Fills an array of `count` elements. Does not wait. */
cudaError_t layout_fill_array(const struct layout_spec *spec, int array, enum dtype dtype, void *values, size_t count);

/* Compares what a pass has written with the oracle, and adds to *finding, which is on the device. Does not wait. */
cudaError_t layout_device_check(const struct layout_args *args, bool backward, int levels, struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
