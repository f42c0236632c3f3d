/* stage.cuh - what a block of fused_steps.cu has of a chunk in shared memory, and how it gets there: by cp.async, in
   the type in which it is stored. Rows go in pieces of 16 bytes, and the threads that bring them take them in turn:
   thread 0 piece 0, thread 1 piece 1, ... In shared memory rows lie as chunk.cuh says. */
#ifndef STAGE_CUH
#define STAGE_CUH

#include "../../common/cuda/cp_async.h"

#include "chunk.cuh"

enum { STEPS = 16 };
#define WARPS(lanes)                                                                                                   \
    ((lanes) < FUSED_STEPS_WARPS ? (lanes) : FUSED_STEPS_WARPS) /* 32 channels are enough for a block */
#define OWN_ROWS(lanes) (3 * CHANNELS(lanes))
#define COMMON_ROWS(lanes) (2 * STATES_OF(lanes))

template <typename stored, int lanes>
struct stage {
    stored common[COMMON_ROWS(lanes) * STEPS];                       /* B and C */
    stored own[WARPS(lanes)][OWN_ROWS(lanes) * STEPS];               /* a warp's u, delta and z */
    float steps[WARPS(lanes)][2 * CHANNELS(lanes) * STEPS];          /* its step and step u */
    float wide[sizeof(stored) < 4 ? COMMON_ROWS(lanes) * STEPS : 4]; /* B and C, if they are not floats */
};

#define IN_PIECE(stored) (16 / (int)sizeof(stored)) /* elements */
#define PIECES_EACH(stored, rows, steps, threads)                                                                      \
    (((rows) * (steps) / IN_PIECE(stored) + (threads)-1) / (threads)) /* a thread's */

/* The row of the thread's piece j, and the step with which all its pieces begin. */
template <typename stored, int steps, int threads>
static __device__ __forceinline__ int row_of(int thread, int j)
{
    return (thread + j * threads) / (steps / IN_PIECE(stored));
}

template <typename stored, int steps>
static __device__ __forceinline__ int step_of_pieces(int thread)
{
    return thread % (steps / IN_PIECE(stored)) * IN_PIECE(stored);
}

/* Finds the thread's pieces of up to three arrays' rows, `each` from row `array_row` on of every array, of which `here`
   are there. Returns a mask of those that are; a missing array has none. */
template <typename stored, int rows, int each, int steps, int threads>
static __device__ __forceinline__ unsigned find_rows(const void *first, const void *second, const void *third,
                                                     size_t array_row, int here, size_t seq_len, int thread,
                                                     const stored *pieces[])
{
    unsigned there = 0;
#pragma unroll
    for (int j = 0; j < PIECES_EACH(stored, rows, steps, threads); j++) {
        const int row = row_of<stored, steps, threads>(thread, j);
        const void *const array = row < each ? first : row < 2 * each ? second : third;
        pieces[j] = (const stored *)array + (array_row + row % each) * seq_len + step_of_pieces<stored, steps>(thread);
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

template <typename stored>
static __device__ __forceinline__ void fetch_some(const stored *from, int left, stored *to)
{
    __align__(16) stored some[8]; /* cp.async takes no two bytes */
    for (int i = 0; i < 8; i++)
        some[i] = i < left ? from[i] : (stored)0.0f;
    *(uint4 *)to = *(const uint4 *)some;
}

/* Sends off the thread's pieces of a chunk, and goes on to the next one. `there` has a bit for each piece that there
   is. `left` steps from the chunk's first on are in the sequence; `whole`: all of the chunk are, and pieces are
   aligned. `all_rows`: all rows are there, too, which leaves nothing to ask. */
template <typename stored, int rows, int steps, int threads>
static __device__ __forceinline__ void fetch_rows(const stored *pieces[], unsigned there, int thread, int left,
                                                  bool whole, bool all_rows, stored *to)
{
    enum { each = PIECES_EACH(stored, rows, steps, threads) };
    const int t = step_of_pieces<stored, steps>(thread);
    to += place<steps, stored>(row_of<stored, steps, threads>(thread, 0), t);
    if (whole) {
#pragma unroll
        for (int j = 0; j < each; j++)
            if (all_rows ? row_of<stored, steps, threads>(thread, j) < rows : there >> j & 1)
                cp_async_l2_prefetch(to + j * threads * IN_PIECE(stored), pieces[j]);
    } else if (left > 0) {
#pragma unroll
        for (int j = 0; j < each; j++)
            if (there >> j & 1)
                fetch_some(pieces[j], left - t, to + j * threads * IN_PIECE(stored));
    }
#pragma unroll
    for (int j = 0; j < each; j++)
        pieces[j] += steps;
}

/* A thread's pieces of a chunk: of its warp's rows, and of those that the block has in common. */
template <typename stored, int lanes>
struct sources {
    const stored *own[PIECES_EACH(stored, OWN_ROWS(lanes), STEPS, 32)];
    const stored *common[PIECES_EACH(stored, COMMON_ROWS(lanes), STEPS, 32 * WARPS(lanes))];
    unsigned own_there, common_there;
};

template <typename stored, int lanes>
static __device__ __forceinline__ struct sources<stored, lanes> find_sources(const struct selective_args *args,
                                                                             const struct chunk_place *where) {
    const size_t first = where->batch * args->channels + args->channels / args->groups * where->group + where->first;
    const size_t first_state = (where->batch * args->groups + where->group) * args->states;
    const void *const z = args->z != NULL ? args->z : args->u; /* read in vain, but every row is there */
    struct sources<stored, lanes> sources;
    sources.own_there = find_rows<stored, OWN_ROWS(lanes), CHANNELS(lanes), STEPS, 32>(
        args->u, args->delta, z, first, where->here, args->seq_len, threadIdx.x % 32, sources.own);
    sources.common_there = find_rows<stored, COMMON_ROWS(lanes), STATES_OF(lanes), STEPS, 32 * WARPS(lanes)>(
        args->B, args->C, NULL, first_state, (int)args->states, args->seq_len, threadIdx.x, sources.common);
    return sources;
}

/* Sends off the thread's part of a chunk, of which `left` steps are in the sequence. `whole`: all of them are, pieces
   are aligned, and so are all channels there; of the states some may be missing. */
template <typename stored, int lanes>
static __device__ __forceinline__ void send(struct sources<stored, lanes> *sources, int left, bool whole,
                                            struct stage<stored, lanes> *to)
{
    fetch_rows<stored, OWN_ROWS(lanes), STEPS, 32>(sources->own, sources->own_there, threadIdx.x % 32, left, whole,
                                                   true, to->own[threadIdx.x / 32]);
    fetch_rows<stored, COMMON_ROWS(lanes), STEPS, 32 * WARPS(lanes)>(sources->common, sources->common_there,
                                                                     threadIdx.x, left, whole, false, to->common);
    __pipeline_commit();
}

/* B and C as floats: floats are ready; the block converts 16 bits, four a thread at a time. */
template <int lanes>
static __device__ __forceinline__ void widen(struct stage<float, lanes> *)
{
}

template <typename stored, int lanes>
static __device__ __forceinline__ void widen(struct stage<stored, lanes> *stage)
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

template <typename stored, int lanes>
static __device__ __forceinline__ const float *floats_of(const struct stage<stored, lanes> *stage)
{
    return stage->wide;
}

/* Where a row of 16 floats lies, half by half: rows 0 and 1, and 2 and 3, modulo 4, have them in different order. */
struct halves {
    const float *low, *high;
};

static __device__ __forceinline__ struct halves halves_of(const float *rows, int row)
{
    const struct halves halves = {rows + place<STEPS>(row, 0), rows + place<STEPS>(row, STEPS / 2)};
    return halves;
}

/* Four steps from t on of the row that comes `rows` behind it, in the stage that lies `bytes` behind its own. */
static __device__ __forceinline__ void get4(struct halves halves, int bytes, int rows, int t, float to[4])
{
    const bool is_low = (t < STEPS / 2) == ((rows & 2) == 0);
    get4(behind(is_low ? halves.low : halves.high, bytes) + rows * STEPS + t % (STEPS / 2), to);
}

#endif
