/* SPDX-License-Identifier: MIT */
/* tile_states.cuh - the walk of fused_states.cu and checkpoints_states.cu from tile to tile, and their lanes' work
   before the loop over time. */
#ifndef TILE_STATES_CUH
#define TILE_STATES_CUH

#include "tile.cuh"

/* Where a thread's first pieces of a tile lie in u, delta and B, in elements. From tile to tile they move on, which is
   less work than to find them. `whole`: all rows are there, and lie at multiples of 16 bytes. */
struct tile_sources {
    size_t own, common;
    bool whole;
};

template <typename dtype, int lanes, int channels>
static __device__ __forceinline__ struct tile_sources find_tile_sources(const struct selective_args *args,
                                                                        const struct block_place *place, int at)
{
    enum { in_row = TILE / IN_PIECE(dtype) };
    const int row = threadIdx.x / in_row, first = at + threadIdx.x % in_row * IN_PIECE(dtype);
    struct tile_sources from;
    from.own = (size_t)(unsigned)(place->first + row) * (unsigned)args->seq_len + first;
    from.common = (size_t)(unsigned)(place->states + row) * (unsigned)args->seq_len + first;
    from.whole =
        place->here == channels && args->states == STATES_OF(lanes) && (int)args->seq_len % IN_PIECE(dtype) == 0;
    return from;
}

/* Sends off the tile behind the one that `from` says, as a whole: u, delta and B. */
template <int threads, typename dtype, int lanes, int arrays, int channels>
static __device__ __forceinline__ void send_next(const struct selective_args *args, struct tile_sources *from,
                                                 struct tile<dtype, lanes, arrays, channels> *to)
{
    enum { in_row = TILE / IN_PIECE(dtype), rows = threads / in_row }; /* between a thread's pieces */
    const int row = threadIdx.x / in_row, t = threadIdx.x % in_row * IN_PIECE(dtype);
    from->own += TILE, from->common += TILE;
#pragma unroll
    for (int j = 0; j < channels / rows; j++) {
        const size_t first = from->own + (size_t)(j * rows) * (unsigned)args->seq_len;
        const int here = swizzled<TILE, dtype>(row + j * rows, t);
        cp_async_l2_prefetch(to->own[0] + here, (const dtype *)args->u + first);
        cp_async_l2_prefetch(to->own[1] + here, (const dtype *)args->delta + first);
    }
#pragma unroll
    for (int j = 0; j * rows < STATES_OF(lanes); j++)
        if (row + j * rows < STATES_OF(lanes))
            cp_async_l2_prefetch(common_piece(to, threadIdx.x + j * threads, row + j * rows, t),
                                 (const dtype *)args->B + from->common + (size_t)(j * rows) * (unsigned)args->seq_len);
}

/* The lane's own steps of a chunk, whose step `at` is `mine` of the chunk: step, step u and, if the tile has d_out,
   d_y. A row a channel, `rows` floats for each of the three. Steps from seq_len on become 0, or next to nothing where
   products of coefficients are formed. */
template <typename dtype, int lanes, int arrays, int channels>
static __device__ __forceinline__ void
prepare_states(const struct selective_args *args, const struct tile<dtype, lanes, arrays, channels> *tile, int channel,
               int chunk, int row, int mine, int at, float bias, float *to)
{
    enum { own = STEPS / lanes, rows = ROOM(CHANNELS(lanes), STEPS) };
    float u[own], step[own], z[own], d_y[own];
    get<TILE, own>(tile->own[0], channel, chunk * STEPS + mine, u);
    get<TILE, own>(tile->own[1], channel, chunk * STEPS + mine, step);
#pragma unroll
    for (int i = 0; i < own; i++) {
        step[i] = step_of(step[i] + bias, args->delta_softplus);
        if (at + i >= (int)args->seq_len)
            step[i] = arrays < 4 ? 0.0f : NEXT_TO_NO_STEP;
        u[i] *= step[i];
    }
    put<STEPS, own>(to, row, mine, step);
    put<STEPS, own>(to + rows, row, mine, u);
    if (arrays < 4)
        return;
    get<TILE, own>(tile->own[arrays - 2], channel, chunk * STEPS + mine, z);
    get<TILE, own>(tile->own[arrays - 1], channel, chunk * STEPS + mine, d_y);
#pragma unroll
    for (int i = 0; i < own; i++)
        d_y[i] = args->z != NULL ? d_y[i] * silu(z[i]) : d_y[i];
    put<STEPS, own>(to + 2 * rows, row, mine, d_y);
}

#endif
