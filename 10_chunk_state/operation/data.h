/* SPDX-License-Identifier: MIT */
/* data.h - the test data of the chunk states, the same bits on host and device. */
#ifndef CHUNK_DATA_H
#define CHUNK_DATA_H

#include "../../common/linrec/linrec_data.h"
#include "arguments.h"

/* The operation's sizes and arrays, as they are numbered (operation.c). */
enum { BATCH, CHUNKS, HEADS, DK, DV, RANK, DECAYS, NUM_SEQS = BATCH /* of packed sequences in its place */ };
enum chunk_array {
    H_LOCAL,
    GAMMA,
    W_,
    Y_,
    INITIAL_STATE,
    H_OUT,
    FINAL_STATE,
    STATES,
    D_H_OUT,
    D_FINAL_STATE,
    D_H_LOCAL,
    D_GAMMA,
    D_W,
    D_Y,
    D_INITIAL_STATE,
    NUM_CHUNK_ARRAYS,
    STARTS = NUM_CHUNK_ARRAYS /* of packed sequences one more */
};

/* What the decays look like. */
enum chunk_kind {
    CHUNK_UNIFORM,   /* gamma in [0, 1): forgets after some chunks */
    CHUNK_NEAR_ONE,  /* in (1 - 2^-10, 1]: long memory, so a lost state shows */
    CHUNK_SIGNED,    /* in [-1, 1) */
    CHUNK_STRONG,    /* as signed, but one in eight is zero, and one in eight 1e-30 */
    CHUNK_NONFINITE, /* as signed, and every other head holds one NaN or infinity somewhere */
    CHUNK_NUM_KINDS
};

/* With W and Y all states are forgotten after so many chunks, where gamma and W are 0: the error bound grows with the
   sizes of all that A adds up, by up to an eighth in each chunk, and would mean nothing after some hundreds of them. */
enum { CHUNK_WINDOW = 32 };

struct chunk_spec {
    uint64_t seed;
    int kind;
    bool backward;
    size_t num_seqs; /* packed sequences, or 0 */
    size_t chunks, heads, dk, dv, rank, decays;
    float scale; /* of an element of W or Y */
};

static inline struct chunk_spec chunk_spec(const size_t *sizes, bool packed, bool backward, uint64_t seed, int kind)
{
    const struct chunk_spec spec = {
        .seed = seed,
        .kind = kind,
        .backward = backward,
        .num_seqs = packed ? sizes[NUM_SEQS] : 0,
        .chunks = sizes[CHUNKS],
        .heads = sizes[HEADS],
        .dk = sizes[DK],
        .dv = sizes[DV],
        .rank = sizes[RANK],
        .decays = sizes[DECAYS],
        /* E|W_ir| E|Y_jr| = 0.64 scale^2, and a row of |W| |Y|^T adds up dk * rank of these: an eighth */
        .scale = (float)(0.44 / sqrt((double)(sizes[DK] * sizes[RANK] + 1))),
    };
    return spec;
}

/* Elements of an array that belong to one chunk of one head, or to a head. */
static inline HOST_DEVICE size_t chunk_part(const struct chunk_spec *spec, int array)
{
    return array == GAMMA ? spec->decays : array == W_ || array == Y_ ? spec->dk * spec->rank : spec->dk * spec->dv;
}

/* Whether an array has a part for each chunk. */
static inline HOST_DEVICE bool chunk_has_chunks(int array)
{
    return array != INITIAL_STATE && array != D_FINAL_STATE;
}

/* Where packed sequence s starts, s up to num_seqs: many short ones, of which some may be empty, then few long ones. */
static inline HOST_DEVICE size_t chunk_start(const struct chunk_spec *spec, size_t s)
{
    const double t = (double)s / (double)(spec->num_seqs != 0 ? spec->num_seqs : 1), t2 = t * t;
    return (size_t)((double)spec->chunks * (t2 * t2));
}

/* The sequence that a chunk belongs to, which is its batch where they are not packed. */
static inline HOST_DEVICE size_t chunk_sequence(const struct chunk_spec *spec, size_t chunk)
{
    size_t low = 0, high = spec->num_seqs; /* the last one that starts there or before */
    if (spec->num_seqs == 0)
        return spec->chunks != 0 ? chunk / spec->chunks : 0;
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (chunk_start(spec, middle) <= chunk)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Element i of an array that a pass reads. */
static inline HOST_DEVICE float chunk_value(const struct chunk_spec *spec, int array, size_t i)
{
    if (array == STARTS)
        return (float)chunk_start(spec, i);
    /* W begins with Y's numbers: a head writes along about the keys that it reads. One in four is its own. */
    const bool shared = array == W_ && data_hash(spec->seed, DATA_SPECIAL, i) % 4 != 0;
    const uint64_t seed = spec->seed + 100 * (uint64_t)(shared ? Y_ : array);
    const size_t part = chunk_part(spec, array), head = i / part % spec->heads;
    const size_t chunk = i / part / spec->heads; /* counted through all batches */

    if (spec->kind == CHUNK_NONFINITE && head % 2 == 0 && chunk_has_chunks(array)) {
        const size_t seq = chunk_sequence(spec, chunk);
        const size_t first = spec->num_seqs != 0 ? chunk_start(spec, seq) : seq * spec->chunks;
        const size_t length = spec->num_seqs != 0 ? chunk_start(spec, seq + 1) - first : spec->chunks;
        const uint64_t special = data_hash(spec->seed, DATA_SPECIAL, seq * spec->heads + head);
        const int hit = special % 2 == 0 ? GAMMA : spec->backward ? D_H_OUT : H_LOCAL;
        if (array == hit && chunk == first + (special >> 8) % length && i % part == (special >> 32) % part)
            return (special >> 1) % 2 == 0 ? (float)NAN : (float)INFINITY;
    }
    if (spec->kind == CHUNK_NEAR_ONE && spec->rank != 0 && chunk % CHUNK_WINDOW == CHUNK_WINDOW - 1 &&
        (array == GAMMA || array == W_))
        return 0.0f;
    if (array != GAMMA) {
        const float normal = data_normal(seed, DATA_INPUTS, i);
        return array == W_ || array == Y_ ? normal * spec->scale : normal;
    }
    const float uniform = data_uniform(seed, DATA_COEFFS, i);
    switch (spec->kind) {
    case CHUNK_NEAR_ONE:
        return 1.0f - uniform * 0x1p-10f;
    case CHUNK_SIGNED:
    case CHUNK_NONFINITE:
        return 2.0f * uniform - 1.0f;
    case CHUNK_STRONG:
        switch (data_hash(seed, DATA_SPECIAL, i) % 8) {
        case 0:
            return 0.0f;
        case 1:
            return 1e-30f;
        default:
            return 2.0f * uniform - 1.0f;
        }
    default:
        return uniform;
    }
}

/* ---- the same on the device, for shapes of any size (data.cu) ---- */

#ifdef __cplusplus
extern "C" {
#endif

struct finding;

/* Writes the test data of one array on the device. Does not wait. */
cudaError_t chunk_fill_array(const struct chunk_spec *spec, int array, enum dtype dtype, void *values, size_t count);

/* Compares on the device; *finding is there, too. */
cudaError_t chunk_device_check(const struct chunk_state_args *args, bool backward, int levels, struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
