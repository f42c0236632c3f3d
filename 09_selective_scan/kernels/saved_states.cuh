/* SPDX-License-Identifier: MIT */
/* saved_states.cuh - where the states wait from fused_states.cu to fused_backward.cu: in the place of gradients that are
   not there yet. The states before a span of steps lie in d_u and d_delta of the very span, four states of a channel
   (a part, channel_pairs.cuh) after the other; when its gradients are written, they have long been read.

       d_u       ... | part 0 part 1 | ...      a row is a channel, and the span has eight steps here: 16 states of
       d_delta   ... | part 2 part 3 | ...      4 bytes are as many bytes as two arrays of eight steps in float32

   With 16 bits in place of 32 a span is twice as long, and the second chunk in it gets its states from the first one.
   The last span of a sequence may be too short for its states, and has them
   in the workspace. */
#ifndef SAVED_STATES_CUH
#define SAVED_STATES_CUH

#include "tile.cuh"

#define SPAN(dtype, lanes) (STEPS * ((lanes) > (int)sizeof(dtype) ? (lanes) / (int)sizeof(dtype) : 1)) /* steps */

#define SPANS(dtype, lanes) (SPAN(dtype, lanes) < TILE ? TILE / SPAN(dtype, lanes) : 1) /* of a tile */

/* Where four states of a channel, those of `part`, wait: `row` is the channel's among those of all batches, and the
   span, which the sequence has as a whole, begins at step `at`. */
template <typename dtype, int lanes>
static __device__ __forceinline__ dtype *saved_at(const struct selective_args *args, int row, int part, int at)
{
    dtype *const array = (dtype *)(part < lanes / 2 ? args->d_u : args->d_delta);
    return array + (size_t)(unsigned)row * (unsigned)args->seq_len + at + part % (lanes / 2) * IN_PIECE(dtype);
}

/* The same for any span. */
template <typename dtype, int lanes>
static __device__ __forceinline__ dtype *any_saved_at(const struct selective_args *args,
                                                      const struct selective_parts *parts, int row, int part, int at)
{
    return at + SPAN(dtype, lanes) <= (int)args->seq_len
               ? saved_at<dtype, lanes>(args, row, part, at)
               : (dtype *)(parts->last_states + ((size_t)(unsigned)row * lanes + part) * 4);
}

/* Rows of other lengths do not begin at multiples of 16 bytes. */
template <typename dtype>
static __device__ __forceinline__ bool rows_are_aligned(const struct selective_args *args)
{
    return (int)args->seq_len % IN_PIECE(dtype) == 0;
}

template <typename dtype>
static __device__ __forceinline__ void save_states(const float h[4], bool aligned, dtype *to)
{
    const float4 four = make_float4(h[0], h[1], h[2], h[3]);
    if (aligned) {
        *(float4 *)to = four;
    } else {
        dtype pieces[IN_PIECE(dtype)];
        memcpy(pieces, &four, sizeof four);
#pragma unroll
        for (int i = 0; i < IN_PIECE(dtype); i++)
            to[i] = pieces[i];
    }
}

/* Sends off a lane's states before the spans of the tile at step `first`, four of each of its two channels,
   as far as these are there. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void fetch_saved(const struct selective_args *args,
                                                   const struct selective_parts *parts, const struct pair_place *place,
                                                   int first, float *to)
{
    enum { span = SPAN(dtype, lanes), spans = SPANS(dtype, lanes) };
    const bool aligned = rows_are_aligned<dtype>(args), whole = aligned && first + spans * span <= (int)args->seq_len;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int row = place->row ^ 2 * k;
        if (row < place->here && whole) {
            const dtype *const from = saved_at<dtype, lanes>(args, place->channels + row, place->part, first);
#pragma unroll
            for (int i = 0; i < spans; i++)
                cp_async_l2_prefetch(to + (i * A_LANE + k * 4) * 32, from + i * span);
        } else if (row < place->here) {
            for (int i = 0; i < spans && first + i * span < (int)args->seq_len; i++) {
                const dtype *const from =
                    any_saved_at<dtype, lanes>(args, parts, place->channels + row, place->part, first + i * span);
                if (aligned)
                    __pipeline_memcpy_async(to + (i * A_LANE + k * 4) * 32, from, 16);
                else
                    send_some(from, IN_PIECE(dtype), (dtype *)(to + (i * A_LANE + k * 4) * 32));
            }
        }
    }
}

/* Of several segments: the sums of a segment's steps before the tile of 16 at step `at`, for each channel of a warp of
   fused_backward.cu. */
template <int lanes>
static __device__ __forceinline__ float *so_long_at(const struct selective_args *args,
                                                    const struct selective_parts *parts, unsigned warp, int at)
{
    const size_t tiles = ((unsigned)args->seq_len + 15) / 16;
    return parts->so_long + (warp * tiles + at / 16) * BOTH(lanes);
}

#endif
