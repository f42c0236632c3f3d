/* SPDX-License-Identifier: MIT */
/* lookback.cu - chained.cu, but a tile does not wait until the one before knows what leaves it. It publishes its own
   aggregate at once, and a warp looks back over 32 tiles at a time until it finds one that knows its inclusive prefix.

       tile       t-6   t-5   t-4   t-3   t-2   t-1    t
       status      P     P     A     A     P     A     A       A: aggregate, P: inclusive prefix
                                           ^^^^^^^             The prefix of t-2, passed through t-1, is what comes
                                                               into t. Then t publishes its own inclusive prefix.

   Merrill and Garland 2016, "Single-pass Parallel Prefix Scan with Decoupled Look-back". */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "look_back.cuh"
#include "lookback.h"
#include "warp_rows.cuh"
#include "workspace.cuh"

enum { NUM_WARPS = LOOKBACK_THREADS / 32 };

/* Each block takes the next tile. inputs, coeffs, outputs: (num_seqs, seq_len). */
template <int rows, int from_end>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    lookback_forward(struct tiling tiling, const float *__restrict__ inputs, const float *__restrict__ coeffs,
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
    const unsigned taken = number_taken, number = min(taken, tiling.num_tiles - 1);
    const struct tile tile = tile_number<from_end>(number, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. */
    rows_load<rows, from_end>(inputs, coeffs, &tile, own, x, c);
    const struct pair warp_aggregate = rows_scan<rows>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);

    /* [look_back] 3. Warp 0 publishes the aggregate, looks back, and publishes the inclusive prefix. */
    if (warp == 0) {
        if (taken != number) /* the ticket is no tile: the workspace was not initialised */
            __trap();
        const struct pair aggregate = pair_shfl(up_to_warp, NUM_WARPS - 1);
        if (lane == 0 && !is_first)
            publish_aggregate(&space->descriptors[number], aggregate);
        const float carry = is_first ? 0.0f : look_back(space->descriptors, number, tile.number_in_seq, lane);
        const float inclusive = is_first ? aggregate.sum : carry * aggregate.product + aggregate.sum;
        if (lane == 0) {
            publish_prefix(&space->descriptors[number], inclusive);
            carry_found = carry;
        }
        leave_workspace(space, tiling.num_tiles, lane);
    }
    __syncthreads();

    /* [add] 4. What comes in is added, and the tile is stored. */
    const float carry = carry_found;
    const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
    rows_add<rows>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < rows; r++)
        store4<from_end>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
}

extern "C" cudaError_t lookback_one_pass(const struct linrec_args *args, cudaStream_t stream)
{
    const int rows = args->config.rows != 0 ? args->config.rows : LOOKBACK_ROWS;
    const struct tiling tiling = lookback_tiling(args, rows);
    const cudaError_t error = linrec_has_states(args)
                                  ? cudaErrorInvalidValue
                                  : lookback_check(args, false, &tiling, lookback_workspace_of(tiling.num_tiles));
    if (error != cudaSuccess || tiling.num_tiles == 0)
        return error;
    void (*const kernel)(struct tiling, const float *, const float *, float *, struct workspace *) =
        args->reverse ? (rows == 1   ? lookback_forward<1, 1>
                         : rows == 2 ? lookback_forward<2, 1>
                                     : lookback_forward<4, 1>)
                      : (rows == 1   ? lookback_forward<1, 0>
                         : rows == 2 ? lookback_forward<2, 0>
                                     : lookback_forward<4, 0>);
    const cudaLaunchConfig_t launch = launch_of(tiling.num_tiles, LOOKBACK_THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, tiling, args->inputs, args->coeffs, args->outputs, lookback_space(args));
}
