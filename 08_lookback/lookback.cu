/* lookback.cu - chained.cu, but a tile does not wait until the one before knows what leaves it. It publishes at once
   what it does by itself, and a warp looks back over 32 tiles at a time until it finds one that knows.

       tile     t-6    t-5    t-4    t-3    t-2    t-1     t
       word     carry  carry  total  total  carry  total   total published. Lane 30 has found a carry: what leaves
                                             ^^^^^  ^^^^^   t-2, passed through t-1, comes into t. Then t publishes
                                                            what leaves it.

   Merrill and Garland 2016, "Single-pass Parallel Prefix Scan with Decoupled Look-back". */
#include <cuda_runtime.h>

#include "lookback.cuh"

enum { NUM_WARPS = LOOKBACK_THREADS / 32 };

/* Each block takes the next tile. inputs, coeffs, outputs: (num_seqs, seq_len). */
template <int rows, int reverse>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    lookback_forward(struct cut cut, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                     float *__restrict__ outputs, struct workspace *space)
{
    __shared__ struct warp_totals totals;
    __shared__ unsigned number_taken;
    __shared__ float carry_found;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4;
    float x[rows][4], c[rows][4];
    struct pair before[rows];

    if (threadIdx.x == 0)
        number_taken = take_ticket(space);
    __syncthreads();
    const unsigned number = number_taken;
    const struct tile tile = tile_number<reverse>(number, &cut);
    const bool nothing = tile.number_in_seq == 0; /* comes into the tile */

    /* 1. and 2. The tile, and what each warp's part of it does. */
    rows_load<rows, reverse>(inputs, coeffs, &tile, own, x, c);
    const struct pair whole_warp = rows_scan<rows>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = whole_warp.product, totals.sum[warp] = whole_warp.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);

    /* 3. Warp 0 publishes what the tile does, looks back, and publishes what leaves it. */
    if (warp == 0) {
        const struct pair whole = pair_shfl(up_to_warp, NUM_WARPS - 1);
        if (lane == 0 && !nothing)
            word_write(&space->words[number], word_half(whole.product), word_half(whole.sum));
        const float carry = nothing ? 0.0f : look_back(space->words, number, tile.number_in_seq, lane);
        const float leaves = nothing ? whole.sum : carry * whole.product + whole.sum;
        if (lane == 0) {
            word_write(&space->words[number], NO_PRODUCT, word_half(leaves));
            carry_found = carry;
        }
        leave_workspace(space, cut.num_tiles, lane);
    }
    __syncthreads();

    /* 4. What comes in is added, and the tile is stored. */
    const float carry = carry_found;
    const float leaves = nothing ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, leaves, (warp + 31) % 32); /* what leaves the warp before */
    rows_add<rows>(x, c, before, warp == 0 ? carry : before_warp, nothing && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < rows; r++)
        store4<reverse>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
}

extern "C" cudaError_t lookback_lookback(const struct linrec_args *args, cudaStream_t stream)
{
    const int rows = args->config.rows != 0 ? args->config.rows : LOOKBACK_ROWS;
    const struct cut cut = lookback_cut(args, rows);
    const cudaError_t error = lookback_check(args, false, &cut);
    if (error != cudaSuccess || cut.num_tiles == 0)
        return error;
    void (*const kernel)(struct cut, const float *, const float *, float *, struct workspace *) =
        args->reverse ? (rows == 1   ? lookback_forward<1, 1>
                         : rows == 2 ? lookback_forward<2, 1>
                                     : lookback_forward<4, 1>)
                      : (rows == 1   ? lookback_forward<1, 0>
                         : rows == 2 ? lookback_forward<2, 0>
                                     : lookback_forward<4, 0>);
    kernel<<<cut.num_tiles, LOOKBACK_THREADS, 0, stream>>>(cut, args->inputs, args->coeffs, args->outputs,
                                                           (struct workspace *)args->workspace);
    return cudaGetLastError();
}
