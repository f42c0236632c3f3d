/* flat.cuh - each warp by itself, with no shared memory and no barrier: for short sequences.

   A warp works on a stream of whole sequences, in tiles of `rows` rows of 32 float4. Short sequences lie side by side
   in a tile and are scanned together, but never joined: no lane looks past the start of its sequence.

       seq_len 6      |a a a a|a a b b|b b b b|c c c c|c c d d|        groups of lanes 0, 1, 2, ...
       starts          ^           ^           ^           ^           lanes 0, 1, 3, 4
       reach           0       0       1       0       0               lanes to the left that may be joined
*/
#ifndef FLAT_CUH
#define FLAT_CUH

#include "../04_warp_scan/warp_scan.cuh"
#include "pipe.h"
#include "tile_move.cuh"

/* The lanes before `lane`, as a mask. */
static __device__ __forceinline__ unsigned lanes_before(int lane)
{
    return (1u << lane) - 1;
}

/* How many lanes before it a lane may join: up to the last one, itself included, whose group holds the start of a
   sequence (a bit in `starts`); that lane's sum is what its sequence has come to since the start. */
static __device__ __forceinline__ int lane_reach(unsigned starts, int lane)
{
    const unsigned up_to_here = starts & (lanes_before(lane) | 1u << lane);
    return up_to_here == 0 ? lane : lane - (31 - __clz((int)up_to_here));
}

/* The recurrence over a group as if nothing came before it, anew at each start: `start` is the first one's place in the
   group, or 4 if there is none. In place: x becomes y, c the running product. From a start on the product means
   nothing, and nobody uses it. A start selects, it does not multiply by zero: 0 * NaN is NaN, and would leak from one
   sequence into the next. */
static __device__ __forceinline__ void group_scan(int start, int seq_len, float *x, float *c)
{
    const int again = seq_len < 4 ? seq_len : 4; /* tiny sequences: several starts in a group */
    int next = start == 0 ? again : start;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        const float y = x[i - 1] * c[i] + x[i];
        x[i] = i == next ? x[i] : y;
        next = i == next ? next + again : next;
        c[i] = c[i - 1] * c[i];
    }
}

/* n modulo the length; a division only where one is needed. */
static __device__ __forceinline__ int wrap(int n, int seq_len)
{
    return n < seq_len ? n : n % seq_len;
}

/* The position of the element at `at` in its sequence: 0 at a start; before the stream, counted backwards. It may take
   a division, so kernels ask for it when their first loads are on the way. */
static __device__ __forceinline__ int flat_position(const struct tile *all, int at, int seq_len)
{
    return at >= all->begin ? wrap(at - all->begin, seq_len) : seq_len - 1 - wrap(all->begin - 1 - at, seq_len);
}

/* The same, a row further. */
static __device__ __forceinline__ int flat_next(int position, int row_step, int seq_len)
{
    position += row_step;
    return position >= seq_len ? position - seq_len : position;
}

/* The stream of this warp, as one tile: seq_len is at most PIPE_FLAT_MAX_LEN, so its indices have 32 bits. Empty for a
   warp that has nothing to do. */
template <int reverse>
static __device__ __forceinline__ struct tile flat_stream(size_t num_seqs, int seq_len, int seqs_per_warp)
{
    const size_t first = ((size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * seqs_per_warp;
    const size_t last = first < num_seqs && num_seqs - first < (size_t)seqs_per_warp ? num_seqs : first + seqs_per_warp;
    const struct stream stream = make_stream<reverse>(seq_len, first, last);
    struct tile all = tile_at<reverse>(&stream, 0, 0x7FFFFFFF);
    all.end = first < num_seqs ? all.end : 0;
    return all;
}

/* What comes into the thread's group. mine: what the group does, or from a start in it on what its sequence has come
   to; starts: the lanes whose group holds a start. The carry reaches the lanes before which nothing started in this
   row. */
static __device__ __forceinline__ float flat_into(struct pair mine, unsigned starts, float carry, int lane)
{
    const struct pair up_to_here = warp_scan(mine, lane_reach(starts, lane));
    const struct pair before = lane_before(up_to_here, lane);
    return (starts & lanes_before(lane)) == 0 ? carry * before.product + before.sum : before.sum;
}

template <int reverse>
static __global__ void __launch_bounds__(PIPE_FLAT_MAX_THREADS)
    flat_forward(size_t num_seqs, int seq_len, int seqs_per_warp, const float *__restrict__ inputs,
                 const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const int lane = threadIdx.x % 32;
    const struct tile all = flat_stream<reverse>(num_seqs, seq_len, seqs_per_warp);
    const int own = lane * 4;
    float x[4], c[4], next_x[4], next_c[4];
    float carry = 0.0f; /* what comes into the row; a stream begins with a start, which lets nothing in */

    group_load<4, reverse>(&all, inputs, 0.0f, own, next_x);
    group_load<4, reverse>(&all, coeffs, 1.0f, own, next_c);
    int position = flat_position(&all, own, seq_len);
    const int row_step = wrap(PIPE_FLAT_ROW, seq_len);
    for (int at = own; at - own < all.end; at += PIPE_FLAT_ROW) {
#pragma unroll
        for (int i = 0; i < 4; i++) /* the row is there; the next one sets out */
            x[i] = next_x[i], c[i] = next_c[i];
        group_load<4, reverse>(&all, inputs, 0.0f, at + PIPE_FLAT_ROW, next_x);
        group_load<4, reverse>(&all, coeffs, 1.0f, at + PIPE_FLAT_ROW, next_c);

        const int to_start = position == 0 ? 0 : seq_len - position;
        const int start = to_start < 4 ? to_start : 4; /* of a sequence, in the group */
        group_scan(start, seq_len, x, c);
        const unsigned starts = __ballot_sync(ALL_LANES, start < 4);
        const struct pair mine = {c[3], x[3]};
        const float into = flat_into(mine, starts, carry, lane);
#pragma unroll
        for (int i = 0; i < 4; i++) /* up to the group's first start */
            x[i] = i < start ? into * c[i] + x[i] : x[i];
        carry = __shfl_sync(ALL_LANES, x[3], 31);
        group_store<4, reverse>(&all, outputs, at, x);
        position = flat_next(position, row_step, seq_len);
    }
}

#endif
