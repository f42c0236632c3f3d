/* SPDX-License-Identifier: MIT */
/* block_stage.cuh - the stage of a block of fused_steps.cu: a chunk in shared memory, in the type of the arrays, and
   how it gets there. Each warp brings u, delta and z of its own channels; B and C are the same for all, and all warps
   bring them together. Rows go by cp.async in pieces of 16 bytes, and the threads that bring them take them in order:
   thread 0 piece 0, thread 1 piece 1, ... */
#ifndef BLOCK_STAGE_CUH
#define BLOCK_STAGE_CUH

#include "../../common/cuda/cp_async.h"
#include "own_steps.cuh"
#include "grid.h"

enum { STEPS = 16 };
#define WARPS(lanes)                                                                                                   \
    ((lanes) < FUSED_STEPS_WARPS ? (lanes) : FUSED_STEPS_WARPS) /* 32 channels are enough for a block */
#define OWN_ROWS(lanes) (3 * CHANNELS(lanes))
#define COMMON_ROWS(lanes) (2 * STATES_OF(lanes))

template <typename dtype, int lanes>
struct stage {
    dtype common[COMMON_ROWS(lanes) * STEPS];                       /* B and C */
    dtype own[WARPS(lanes)][OWN_ROWS(lanes) * STEPS];               /* a warp's u, delta and z */
    float steps[WARPS(lanes)][2 * CHANNELS(lanes) * STEPS];         /* its step and step u */
    float wide[sizeof(dtype) < 4 ? COMMON_ROWS(lanes) * STEPS : 4]; /* B and C, if they are not floats */
};

#define PIECES_EACH(dtype, rows, steps, threads)                                                                       \
    (((rows) * (steps) / IN_PIECE(dtype) + (threads)-1) / (threads)) /* a thread's */

/* The row of the thread's piece j, and the step with which all its pieces begin. */
template <typename dtype, int steps, int threads>
static __device__ __forceinline__ int row_of(int thread, int j)
{
    return (thread + j * threads) / (steps / IN_PIECE(dtype));
}

template <typename dtype, int steps>
static __device__ __forceinline__ int step_of_pieces(int thread)
{
    return thread % (steps / IN_PIECE(dtype)) * IN_PIECE(dtype);
}

/* Finds the thread's pieces of up to three arrays' rows, `each` from row `array_row` on of every array, of which `here`
   are there. Returns a mask of those that are; a missing array has none. */
template <typename dtype, int rows, int each, int steps, int threads>
static __device__ __forceinline__ unsigned find_rows(const void *first, const void *second, const void *third,
                                                     size_t array_row, int here, size_t seq_len, size_t begin,
                                                     int thread, const dtype *pieces[])
{
    unsigned there = 0;
#pragma unroll
    for (int j = 0; j < PIECES_EACH(dtype, rows, steps, threads); j++) {
        const int row = row_of<dtype, steps, threads>(thread, j);
        const void *const array = row < each ? first : row < 2 * each ? second : third;
        pieces[j] =
            (const dtype *)array + (array_row + row % each) * seq_len + begin + step_of_pieces<dtype, steps>(thread);
        if (row < rows && array != NULL && row % each < here)
            there |= 1u << j;
    }
    return there;
}

/* A piece of which only the first `left` elements are there, or that is not aligned. The others become 0. */
static __device__ __forceinline__ void fetch_some(const float *from, int left, float *to)
{
    for (int i = 0; i < 4; i++)
        if (i < left)
            __pipeline_memcpy_async(to + i, from + i, 4);
        else
            to[i] = 0.0f;
}

template <typename dtype>
static __device__ __forceinline__ void fetch_some(const dtype *from, int left, dtype *to)
{
    __align__(16) dtype some[8]; /* cp.async takes no two bytes */
    for (int i = 0; i < 8; i++)
        some[i] = i < left ? from[i] : (dtype)0.0f;
    *(uint4 *)to = *(const uint4 *)some;
}

/* Sends off the thread's pieces of a chunk, and goes on to the next one. `there` has a bit for each piece that there
   is. `left` steps from the chunk's first on are in the sequence; `whole`: all of the chunk are, and pieces are
   aligned. `all_rows`: all rows are there, too, which leaves nothing to ask. */
template <typename dtype, int rows, int steps, int threads>
static __device__ __forceinline__ void fetch_rows(const dtype *pieces[], unsigned there, int thread, int left,
                                                  bool whole, bool all_rows, dtype *to)
{
    enum { each = PIECES_EACH(dtype, rows, steps, threads) };
    const int t = step_of_pieces<dtype, steps>(thread);
    to += swizzled<steps, dtype>(row_of<dtype, steps, threads>(thread, 0), t);
    if (whole) {
#pragma unroll
        for (int j = 0; j < each; j++)
            if (all_rows ? row_of<dtype, steps, threads>(thread, j) < rows : there >> j & 1)
                cp_async_l2_prefetch(to + j * threads * IN_PIECE(dtype), pieces[j]);
    } else if (left > 0) {
#pragma unroll
        for (int j = 0; j < each; j++)
            if (there >> j & 1)
                fetch_some(pieces[j], left - t, to + j * threads * IN_PIECE(dtype));
    }
#pragma unroll
    for (int j = 0; j < each; j++)
        pieces[j] += steps;
}

/* A thread's pieces of a chunk: of its warp's rows, and of those that the block has in common. */
template <typename dtype, int lanes>
struct sources {
    const dtype *own[PIECES_EACH(dtype, OWN_ROWS(lanes), STEPS, 32)];
    const dtype *common[PIECES_EACH(dtype, COMMON_ROWS(lanes), STEPS, 32 * WARPS(lanes))];
    unsigned own_there, common_there;
};

/* `begin`: the first step. */
template <typename dtype, int lanes>
static __device__ __forceinline__ struct sources<dtype, lanes>
find_sources(const struct selective_args *args, const struct chunk_place *where, size_t begin) {
    const size_t first = where->batch * args->channels + args->channels / args->groups * where->group + where->first;
    const size_t first_state = (where->batch * args->groups + where->group) * args->states;
    const void *const z = args->z != NULL ? args->z : args->u; /* read in vain, but every row is there */
    struct sources<dtype, lanes> sources;
    sources.own_there = find_rows<dtype, OWN_ROWS(lanes), CHANNELS(lanes), STEPS, 32>(
        args->u, args->delta, z, first, where->here, args->seq_len, begin, threadIdx.x % 32, sources.own);
    sources.common_there = find_rows<dtype, COMMON_ROWS(lanes), STATES_OF(lanes), STEPS, 32 * WARPS(lanes)>(
        args->B, args->C, NULL, first_state, (int)args->states, args->seq_len, begin, threadIdx.x, sources.common);
    return sources;
}

/* Sends off the thread's part of a chunk, of which `left` steps are in the sequence. `whole`: all of them are, pieces
   are aligned, and so are all channels there; of the states some may be missing. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void send(struct sources<dtype, lanes> *sources, int left, bool whole,
                                            struct stage<dtype, lanes> *to)
{
    fetch_rows<dtype, OWN_ROWS(lanes), STEPS, 32>(sources->own, sources->own_there, threadIdx.x % 32, left, whole, true,
                                                  to->own[threadIdx.x / 32]);
    fetch_rows<dtype, COMMON_ROWS(lanes), STEPS, 32 * WARPS(lanes)>(sources->common, sources->common_there, threadIdx.x,
                                                                    left, whole, false, to->common);
    __pipeline_commit();
}

/* B and C as floats: floats are ready; the block converts 16 bits, four a thread at a time. */
template <int lanes>
static __device__ __forceinline__ void widen(struct stage<float, lanes> *)
{
}

template <typename dtype, int lanes>
static __device__ __forceinline__ void widen(struct stage<dtype, lanes> *stage)
{
    enum { rows = COMMON_ROWS(lanes), threads = 32 * WARPS(lanes), pieces = rows * STEPS / 4 };
#pragma unroll
    for (int j = 0; j < (pieces + threads - 1) / threads; j++) {
        const int piece = threadIdx.x + j * threads, row = piece / (STEPS / 4), t = piece % (STEPS / 4) * 4;
        float four[4];
        if (pieces % threads != 0 && row >= rows)
            break;
        get<STEPS, 4>(stage->common, row, t, four);
        put<STEPS, 4>(stage->wide, row, t, four);
    }
}

template <int lanes>
static __device__ __forceinline__ const float *floats_of(const struct stage<float, lanes> *stage)
{
    return stage->common;
}

template <typename dtype, int lanes>
static __device__ __forceinline__ const float *floats_of(const struct stage<dtype, lanes> *stage)
{
    return stage->wide;
}

/* Where a row of 16 floats lies, half by half: rows 0 and 1, and 2 and 3, modulo 4, have them in different order. */
struct halves {
    const float *low, *high;
};

static __device__ __forceinline__ struct halves halves_of(const float *rows, int row)
{
    const struct halves halves = {rows + swizzled<STEPS>(row, 0), rows + swizzled<STEPS>(row, STEPS / 2)};
    return halves;
}

/* Four steps from t on of the row that comes `rows` behind it, in the stage that lies `bytes` behind its own. */
static __device__ __forceinline__ void get4(struct halves halves, int bytes, int rows, int t, float to[4])
{
    const bool is_low = (t < STEPS / 2) == ((rows & 2) == 0);
    get4(behind(is_low ? halves.low : halves.high, bytes) + rows * STEPS + t % (STEPS / 2), to);
}

#endif
