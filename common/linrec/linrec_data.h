/* SPDX-License-Identifier: MIT */
/* linrec_data.h - repeatable test data, the same bits on host and device.

   Every number is a function of (seed, array, index) alone: a counter-based hash. So a shape of many gigabytes is
   generated where it is used, and any single row can be generated again on the host to check it. */
#ifndef LINREC_DATA_H
#define LINREC_DATA_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/host_device.h"

/* What the coefficients look like. Each kind is there because some wrong kernel passes all the others. */
enum data_kind {
    DATA_UNIFORM,   /* c in [0, 1): the workload that is timed; forgets after some tens of elements */
    DATA_NEAR_ONE,  /* c in (1 - 2^-10, 1]: long memory, so a lost carry shows */
    DATA_SIGNED,    /* c in [-1, 1) */
    DATA_ZEROS,     /* as signed, but one in eight is zero: products of coefficients vanish */
    DATA_ABOVE_ONE, /* |c| in [1, 1.25), either sign: grows; for short sequences only (data_kind_fits) */
    DATA_NAN_FIRST, /* as signed, but the first coefficient, which only an initial state may meet, is NaN */
    DATA_OVERFLOW,  /* no inputs, and the first products of coefficients are infinite: zeros stay zeros all the same */
    DATA_NONFINITE, /* as zeros, and every other sequence holds one NaN or infinity somewhere, others in a state */
    DATA_NUM_KINDS
};

/* Which array a number belongs to. */
enum data_array {
    DATA_INPUTS,
    DATA_COEFFS,
    DATA_OUTPUTS,
    DATA_D_OUTPUTS,
    DATA_SPECIAL,
    DATA_INITIAL_STATE,
    DATA_D_FINAL_STATE
};

struct data_spec {
    uint64_t seed;
    enum data_kind kind;
    size_t seq_len;
    bool reverse;  /* the first coefficient is the last element of the row */
    size_t window; /* not 0: coefficients at multiples of it, but for 0, are zero: windows can be checked alone */
    bool backward; /* the scan runs against `reverse`, from the other end */
};

static inline const char *data_kind_name(enum data_kind kind)
{
    static const char *const names[DATA_NUM_KINDS] = {"uniform",   "near one",  "signed",   "zeros",
                                                      "above one", "NaN first", "overflow", "nonfinite"};
    return names[kind];
}

/* A kind is left out where the results would overflow, where infinite products would not lie within one thread's part
   (below 385 elements a thread may have as few as one, and a group of four may begin at multiples of 16 bytes only), or
   where a NaN would leave the window that is checked alone. */
static inline bool data_kind_fits(const struct data_spec *spec, enum data_kind kind)
{
    if (kind == DATA_ABOVE_ONE)
        return spec->seq_len <= 256; /* 1.25^256 = 6e24 */
    if (kind == DATA_OVERFLOW)
        return spec->seq_len >= 385 && spec->seq_len % 4 == 0 && spec->window == 0;
    if (kind == DATA_NONFINITE)
        return spec->window == 0;
    return true;
}

/* 64 well-mixed bits for one index of one array: the finalizer of splitmix64 (Steele, Lea, Flood 2014), applied to the
   key and then to the counter. */
static inline HOST_DEVICE uint64_t data_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline HOST_DEVICE uint64_t data_hash(uint64_t seed, enum data_array array, uint64_t index)
{
    uint64_t key = data_mix(seed + 0x9E3779B97F4A7C15u * ((uint64_t)array + 1));
    return data_mix(key + 0x9E3779B97F4A7C15u * (index + 1));
}

/* Uniform in [0, 1), a multiple of 2^-24. */
static inline HOST_DEVICE float data_uniform(uint64_t seed, enum data_array array, uint64_t index)
{
    return (float)(data_hash(seed, array, index) >> 40) * 0x1p-24f;
}

/* N(0, 1), nearly: the sum of twelve uniform numbers less its mean, in integers, so that host and device agree to the
   bit (their logarithms and cosines would not). */
static inline HOST_DEVICE float data_normal(uint64_t seed, enum data_array array, uint64_t index)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t bits = data_hash(seed, array, 3 * index + i);
        for (int part = 0; part < 4; part++)
            sum += (bits >> (16 * part)) & 0xFFFF;
    }
    return (float)(2 * sum - 12 * 65535) * 0x1p-17f;
}

/* Whether an array has one number for each sequence, a state. */
static inline HOST_DEVICE bool data_is_state(enum data_array array)
{
    return array == DATA_INITIAL_STATE || array == DATA_D_FINAL_STATE;
}

/* The state of a sequence. One that is infinite or NaN must not reach the neighbours. */
static inline HOST_DEVICE float data_state(const struct data_spec *spec, enum data_array array, size_t seq)
{
    if (spec->kind == DATA_OVERFLOW)
        return 0.0f;
    if (spec->kind == DATA_NONFINITE && seq % 4 == (array == DATA_INITIAL_STATE ? 1 : 3))
        return data_hash(spec->seed, DATA_SPECIAL, seq) % 2 == 0 ? (float)NAN : (float)INFINITY;
    return data_normal(spec->seed, array, seq);
}

/* Element (seq, pos) of an array; of a state, (seq, 0). */
static inline HOST_DEVICE float data_value(const struct data_spec *spec, enum data_array array, size_t seq, size_t pos)
{
    const uint64_t index = (uint64_t)seq * spec->seq_len + pos;

    if (data_is_state(array))
        return data_state(spec, array, seq);
    if (spec->kind == DATA_NONFINITE && seq % 2 == 0) {
        const uint64_t special = data_hash(spec->seed, DATA_SPECIAL, seq);
        /* inputs exist forward only, d_outputs and outputs backward only:
           half of the rows put it into the coefficients */
        const enum data_array in_backward = (special >> 1) % 2 == 0 ? DATA_D_OUTPUTS : DATA_OUTPUTS;
        const bool hit = special % 2 == 0 ? array == DATA_COEFFS : array == DATA_INPUTS || array == in_backward;
        if (hit && pos == (special >> 8) % spec->seq_len)
            return (special >> 2) % 2 == 0 ? (float)NAN : (float)INFINITY;
    }
    if (spec->kind == DATA_OVERFLOW && array != DATA_OUTPUTS) {
        /* in the order of the scan 1, 1e20, 1e20, 1e20, 0, 0, ...;
           backward an element takes the coefficient before it */
        const size_t step = spec->reverse != spec->backward ? spec->seq_len - 1 - pos : pos;
        const size_t taken = spec->backward ? step + 1 : step;
        return array != DATA_COEFFS || taken > 3 ? 0.0f : taken == 0 ? 1.0f : 1e20f;
    }
    if (array != DATA_COEFFS)
        return data_normal(spec->seed, array, index);

    const float uniform = data_uniform(spec->seed, array, index);
    if (spec->window != 0 && pos != 0 && pos % spec->window == 0)
        return 0.0f;
    switch (spec->kind) {
    case DATA_NEAR_ONE:
        return 1.0f - uniform * 0x1p-10f;
    case DATA_SIGNED:
        return 2.0f * uniform - 1.0f;
    case DATA_ZEROS:
    case DATA_NONFINITE:
        return data_hash(spec->seed, DATA_SPECIAL, index) % 8 == 0 ? 0.0f : 2.0f * uniform - 1.0f;
    case DATA_ABOVE_ONE:
        return data_hash(spec->seed, DATA_SPECIAL, index) % 2 == 0 ? 1.0f + 0.25f * uniform : -1.0f - 0.25f * uniform;
    case DATA_NAN_FIRST:
        return pos == (spec->reverse ? spec->seq_len - 1 : 0) ? (float)NAN : 2.0f * uniform - 1.0f;
    default:
        return uniform;
    }
}

#endif
