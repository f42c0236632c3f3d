/* SPDX-License-Identifier: MIT */
/* aggregates.cu - aggregates of pieces of sequences, in two launches: chapter 08's three_pass without its third.
   Against that file, a piece of the sequence is enough, and the tiles' pairs become one pair.

       tile_aggregates   | tile 0 | tile 1 | tile 2 | ...    a block a tile; reads x and c, 8 bytes an element
       join_tiles    (product, sum) of each tile         a block a sequence; a thread joins neighbouring tiles

   Backward, an element hands on (what comes in + d_outputs) * c, so its pair is (c, d_outputs * c). */
#include <cuda_runtime.h>

#include "../08_lookback/warp_rows.cuh"
#include "../common/cuda/launch_of.h"
#include "aggregates.h"

enum { ROWS = 4, THREADS = 256, NUM_WARPS = THREADS / 32, TILE = NUM_WARPS * ROWS * 128 };

/* Tile `number` of the piece of sequence `seq`: chapter 08's tile_of, where the piece is the sequence. */
template <int from_end>
static __device__ __forceinline__ struct tile tile_of_piece(const struct piece *piece, size_t seq_len, size_t seq,
                                                            size_t number)
{
    const size_t row = seq * seq_len;
    const size_t start = row + (from_end ? seq_len - piece->last : piece->first);
    const size_t stop = start + (piece->last - piece->first);
    const size_t origin = origin_of<from_end>(start, stop), base = number * TILE;
    const int begin = (int)(from_end ? origin - stop : start - origin);
    struct tile tile = {};
    tile.at = tile_at<from_end>(origin, base);
    tile.first = base == 0 ? begin : 0;
    tile.last = elems_left(base, begin + (stop - start), TILE);
    return tile;
}

/* Block b: tile b % seq_tiles of sequence b / seq_tiles. inputs: d_outputs if `backward`. */
template <int from_end>
static __global__ void __launch_bounds__(THREADS)
    tile_aggregates(struct piece piece, size_t seq_len, unsigned seq_tiles, bool backward,
                    const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    struct aggregate *__restrict__ tiles)
{
    __shared__ struct warp_totals warps;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4; /* where the lane's group in the first row lies in the tile */
    const struct tile tile = tile_of_piece<from_end>(&piece, seq_len, blockIdx.x / seq_tiles, blockIdx.x % seq_tiles);
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

    rows_read<ROWS, from_end>(inputs, coeffs, &tile, own, x, c);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (piece.starts && blockIdx.x % seq_tiles == 0 && own + i == tile.first)
            c[0][i] = 1.0f; /* chapter 08's rows_load */
    if (backward) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] *= c[r][i];
    }
    const struct pair warp_aggregate = rows_scan<ROWS>(x, c, before, lane);
    if (lane == 31)
        warps.product[warp] = warp_aggregate.product, warps.sum[warp] = warp_aggregate.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&warps, NUM_WARPS, lane);
    if (threadIdx.x == NUM_WARPS - 1)
        tiles[blockIdx.x].product = up_to_warp.product, tiles[blockIdx.x].sum = up_to_warp.sum;
}

/* Block b: all tiles of sequence b. A thread has `each` neighbours, so the threads have them in order. */
static __global__ void __launch_bounds__(THREADS)
    join_tiles(unsigned seq_tiles, const struct aggregate *__restrict__ tiles,
               struct aggregate *__restrict__ aggregates)
{
    __shared__ struct warp_totals warps;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned each = (seq_tiles - 1) / THREADS + 1, begin = threadIdx.x * each;
    const struct aggregate *const own = tiles + (size_t)blockIdx.x * seq_tiles;
    struct pair mine = {1.0f, 0.0f}; /* a thread without tiles; it is joined behind others only, and changes nothing */

    for (unsigned t = begin; t < begin + each && t < seq_tiles; t++) {
        const struct pair next = {own[t].product, own[t].sum};
        mine = t == begin ? next : pair_join(mine, next);
    }
    const struct pair up_to_lane = warp_scan(mine, lane);
    if (lane == 31)
        warps.product[warp] = up_to_lane.product, warps.sum[warp] = up_to_lane.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&warps, NUM_WARPS, lane);
    if (threadIdx.x == NUM_WARPS - 1)
        aggregates[blockIdx.x].product = up_to_warp.product, aggregates[blockIdx.x].sum = up_to_warp.sum;
}

extern "C" size_t aggregates_tiles(size_t length)
{
    return (most_elems(length) + 2) / TILE + 1; /* a piece may begin up to 3 elements into its first group of four */
}

extern "C" cudaError_t aggregates_launch(const struct linrec_args *args, bool backward, const struct piece *piece,
                                         struct aggregate *tiles, struct aggregate *aggregates, cudaStream_t stream)
{
    const bool is_empty = piece->first >= piece->last || piece->last > args->seq_len || args->num_seqs == 0;
    const size_t seq_tiles = is_empty ? 0 : aggregates_tiles(piece->last - piece->first);
    if (is_empty || seq_tiles > 0x7FFFFFFF / args->num_seqs)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t for_tiles = launch_of(args->num_seqs * seq_tiles, THREADS, 0, stream);
    const cudaLaunchConfig_t for_seqs = launch_of(args->num_seqs, THREADS, 0, stream);
    const cudaError_t error = cudaLaunchKernelEx(&for_tiles, piece->from_end ? tile_aggregates<1> : tile_aggregates<0>,
                                                 *piece, args->seq_len, (unsigned)seq_tiles, backward,
                                                 backward ? args->d_outputs : args->inputs, args->coeffs, tiles);
    return error != cudaSuccess ? error
                                : cudaLaunchKernelEx(&for_seqs, join_tiles, (unsigned)seq_tiles, tiles, aggregates);
}
