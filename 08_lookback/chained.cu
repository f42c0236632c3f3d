/* SPDX-License-Identifier: MIT */
/* chained.cu - all in one launch: a block computes what its tile does, waits for what leaves the tile before, and
   publishes what leaves its own.

       tile 0   load  scan  publish   add  store
       tile 1   load  scan     wait  publish   add  store
       tile 2   load  scan     . . . . .  wait  publish   add  store      load and scan side by side, the rest in a row

   A block waits, so the one that it waits for must be running. A ticket sees to that: blocks take the tiles in the
   order in which they begin. */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "lookback.h"
#include "warp_rows.cuh"
#include "workspace.cuh"

enum { ROWS = LOOKBACK_ROWS, NUM_WARPS = LOOKBACK_THREADS / 32 };

/* The inclusive prefix of the tile whose descriptor this is, as soon as it is published. */
static __device__ __forceinline__ float wait_for(unsigned long long *from)
{
    unsigned long long found;
    do
        found = descriptor_read(from);
    while (found == NOT_PUBLISHED);
    return descriptor_pair(found).sum;
}

/* Each block takes the next tile. inputs, coeffs, outputs: (num_seqs, seq_len). */
template <int from_end>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    chained_forward(struct tiling tiling, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ outputs, struct workspace *space)
{
    __shared__ struct warp_totals totals;
    __shared__ unsigned number_taken;
    __shared__ float carry_found;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4;
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

    /* [ticket] The number of the tile: how many blocks have begun before this one. */
    if (threadIdx.x == 0)
        number_taken = take_ticket(space);
    __syncthreads();
    const unsigned taken = number_taken, number = min(taken, tiling.num_tiles - 1);
    const struct tile tile = tile_number<from_end>(number, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */

    /* [scan] 1. and 2. The tile, and what each warp's part of it does. */
    rows_load<ROWS, from_end>(inputs, coeffs, &tile, own, x, c);
    const struct pair warp_aggregate = rows_scan<ROWS>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);

    /* [wait] 3. One thread waits for what leaves the tile before, and publishes what leaves this one. */
    if (threadIdx.x == NUM_WARPS - 1) {
        if (taken != number) /* the ticket is no tile: the workspace was not initialised */
            __trap();
        const float carry = is_first ? 0.0f : wait_for(&space->descriptors[number - 1]);
        const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        publish_prefix(&space->descriptors[number], inclusive);
        carry_found = carry;
    }
    if (warp == 0)
        leave_workspace(space, tiling.num_tiles, lane);
    __syncthreads();

    /* [add] 4. What comes in is added, and the tile is stored. */
    const float carry = carry_found;
    const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
    rows_add<ROWS>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        store4<from_end>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
}

extern "C" cudaError_t lookback_chained(const struct linrec_args *args, cudaStream_t stream)
{
    const struct tiling tiling = lookback_tiling(args, ROWS);
    const cudaError_t error = linrec_has_states(args)
                                  ? cudaErrorInvalidValue
                                  : lookback_check(args, false, &tiling, lookback_workspace_of(tiling.num_tiles));
    if (error != cudaSuccess || tiling.num_tiles == 0)
        return error;
    const cudaLaunchConfig_t launch = launch_of(tiling.num_tiles, LOOKBACK_THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, (args->reverse ? chained_forward<1> : chained_forward<0>), tiling, args->inputs,
                              args->coeffs, args->outputs, lookback_space(args));
}
