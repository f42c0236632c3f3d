/* SPDX-License-Identifier: MIT */
/* tile.cuh - the part of its sequences that a block of fused_states.cu, fused_backward.cu, checkpoints_states.cu or
   checkpoints_backward.cu has in shared memory: a tile of TILE steps in chunks of 8. The file that includes this one
   says whether that is 16 or 32. Rows come in as they are dtype, in pieces of 16 bytes:

     own      u | delta | z | d_out   a row a channel: only the lane that needs a step reads it, and makes a float of it
     common   B | C                   a row a state: all lanes read it over and over. It becomes floats, chunk by chunk

   `arrays` is 4, or 2 for u, delta and B only; `channels` are those of the block. */
#ifndef TILE_CUH
#define TILE_CUH

#include "../../common/cuda/cp_async.h"
#include "own_steps.cuh"
#include "channel_pairs.cuh"

#define COMMON_PIECES(dtype, lanes, arrays) ((arrays) / 2 * STATES_OF(lanes) * TILE / IN_PIECE(dtype))

template <typename dtype, int lanes, int arrays, int channels>
struct tile {
    dtype own[arrays][channels * TILE];
    float common[TILE / STEPS][ROOM(arrays / 2 * STATES_OF(lanes), STEPS)];
    uint4 narrow[sizeof(dtype) < 4 ? COMMON_PIECES(dtype, lanes, arrays) : 8]; /* what common shall become; or 128 */
                                                                               /* bytes, as all lies at multiples */
};

/* Where a block works: on `here` channels of one group. Blocks have `channels` each, in order, and a group `blocks`, of
   which the last ones may have none. */
struct block_place {
    int here;
    int first, states; /* row of the first channel in arrays like u; the group's first row of B */
};

static __device__ __forceinline__ struct block_place place_block(const struct selective_args *args, int channels,
                                                                 unsigned blocks)
{
    const unsigned per_group = args->channels / args->groups, of_group = blockIdx.x / blocks;
    const unsigned first = blockIdx.x % blocks * channels;
    struct block_place place;
    place.here = min((int)(per_group - first), channels);
    place.first = of_group * per_group + first;
    place.states = of_group * args->states;
    return place;
}

/* A piece that is not there as a whole, or not aligned: its first `left` elements, and 0 for the others. */
template <typename dtype>
static __device__ __forceinline__ void send_some(const dtype *from, int left, dtype *to)
{
    for (int i = 0; i < IN_PIECE(dtype); i++)
        if (i >= left)
            to[i] = (dtype)0.0f;
        else if (sizeof(dtype) == 4)
            __pipeline_memcpy_async(to + i, from + i, sizeof(dtype));
        else
            to[i] = from[i];
}

/* Where a thread's piece of B and C goes: to its place, if these are floats. */
template <int lanes, int arrays, int channels>
static __device__ __forceinline__ float *common_piece(struct tile<float, lanes, arrays, channels> *tile, int, int row,
                                                      int t)
{
    return tile->common[t / STEPS] + swizzled<STEPS>(row, t % STEPS);
}

template <typename dtype, int lanes, int arrays, int channels>
static __device__ __forceinline__ dtype *common_piece(struct tile<dtype, lanes, arrays, channels> *tile, int piece, int,
                                                      int)
{
    return (dtype *)&tile->narrow[piece];
}

/* Sends off the thread's pieces of the tile that begins at step `at`, as far as they are there. `whole`: all are, and
   lie at multiples of their size. */
template <typename dtype, int lanes, int arrays, int channels, int threads>
static __device__ __forceinline__ void send_tile(const struct selective_args *args, const struct block_place *place,
                                                 int at, bool whole, struct tile<dtype, lanes, arrays, channels> *to)
{
    enum { each = IN_PIECE(dtype), in_row = TILE / each, own = channels * in_row };
    enum { common = COMMON_PIECES(dtype, lanes, arrays) };
    const void *const own_arrays[] = {args->u, args->delta, args->z != NULL ? args->z : args->u, args->d_out};
    const int t = threadIdx.x % in_row * each, left = (int)args->seq_len - at - t;
#pragma unroll
    for (int j = 0; j < (own + threads - 1) / threads; j++) {
        const int channel = (threadIdx.x + j * threads) / in_row;
        const size_t first = (size_t)(unsigned)(place->first + channel) * (unsigned)args->seq_len + at + t;
        if (own % threads != 0 && channel >= channels)
            break;
#pragma unroll
        for (int array = 0; array < arrays; array++) { /* without z u is read in its place, in vain */
            const dtype *const from = (const dtype *)own_arrays[array] + first;
            dtype *const here = to->own[array] + swizzled<TILE, dtype>(channel, t);
            if (whole)
                cp_async_l2_prefetch(here, from);
            else if (channel < place->here)
                send_some(from, left, here);
        }
    }
#pragma unroll
    for (int j = 0; j < (common + threads - 1) / threads; j++) {
        const int piece = threadIdx.x + j * threads, row = piece / in_row, state = row % STATES_OF(lanes);
        const dtype *const from = (const dtype *)(row < STATES_OF(lanes) ? args->B : args->C);
        const size_t first = (size_t)(unsigned)(place->states + state) * (unsigned)args->seq_len + at + t;
        if (common % threads != 0 && piece >= common)
            break;
        if (whole)
            cp_async_l2_prefetch(common_piece(to, piece, row, t), from + first);
        else if (state < (int)args->states)
            send_some(from + first, left, common_piece(to, piece, row, t));
    }
}

/* The same for a tile that need not be in the sequence: then nothing is sent. */
template <int threads, typename dtype, int lanes, int arrays, int channels>
static __device__ __forceinline__ void fetch_tile(const struct selective_args *args, const struct block_place *place,
                                                  int at, struct tile<dtype, lanes, arrays, channels> *to)
{
    const int seq_len = (int)args->seq_len;
    const bool every_row = place->here == channels && args->states == STATES_OF(lanes);
    if (at >= 0 && at + TILE <= seq_len && seq_len % IN_PIECE(dtype) == 0 && every_row)
        send_tile<dtype, lanes, arrays, channels, threads>(args, place, at, true, to);
    else if (at >= 0 && at < seq_len)
        send_tile<dtype, lanes, arrays, channels, threads>(args, place, at, false, to);
}

/* A thread makes floats of what it has sent of B and C itself, and waited for. */
template <int threads, int lanes, int arrays, int channels>
static __device__ __forceinline__ void widen_tile(struct tile<float, lanes, arrays, channels> *)
{
}

template <int threads, typename dtype, int lanes, int arrays, int channels>
static __device__ __forceinline__ void widen_tile(struct tile<dtype, lanes, arrays, channels> *tile)
{
    enum { in_row = TILE / STEPS, common = COMMON_PIECES(dtype, lanes, arrays) };
#pragma unroll
    for (int j = 0; j < (common + threads - 1) / threads; j++) {
        const int piece = threadIdx.x + j * threads;
        float eight[STEPS];
        if (common % threads != 0 && piece >= common)
            break;
        get<STEPS, STEPS>((const dtype *)&tile->narrow[piece], 0, 0, eight);
        put<STEPS, STEPS>(tile->common[piece % in_row], piece / in_row, 0, eight);
    }
}

#endif
