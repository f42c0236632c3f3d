/* SPDX-License-Identifier: MIT */
/* grid_sync.cu - three_pass.cu in one launch. Between two passes all blocks meet at a barrier of the whole grid, which
   cooperative groups have as grid.sync(). So there are as many blocks as fit the chip at the same time, and each takes
   every gridDim.x-th tile:

       block 0    tile 0, 3, 6 | sync | sequence 0, 3, ... | sync | tile 0, 3, 6      3 blocks, 8 tiles a sequence
       block 1    tile 1, 4, 7 |      | sequence 1, 4, ... |      | tile 1, 4, 7
       block 2    tile 2, 5    |      | sequence 2, ...    |      | tile 2, 5
                  aggregates            carries                     apply

   What chapter 05's kernel did between the passes, a block does for each sequence: it walks over the aggregates of the
   tiles, as many at once as it has threads. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "lookback.h"
#include "warp_rows.cuh"

enum { ROWS = LOOKBACK_ROWS, NUM_WARPS = LOOKBACK_THREADS / 32 };

/* inputs, coeffs, outputs: (num_seqs, seq_len). products, sums, carries: of each tile. Other blocks write these three
   while this kernel runs, so they are not __restrict__: a load may not take what an earlier one has left in L1. */
template <int from_end>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    grid_sync_forward(struct tiling tiling, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                      float *__restrict__ outputs, float *products, float *sums, float *carries)
{
    __shared__ struct warp_totals totals;
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4;
    const unsigned num_seqs = tiling.num_tiles / tiling.seq_tiles;
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

    /* [aggregates] 1. What each tile does. */
    for (unsigned number = blockIdx.x; number < tiling.num_tiles; number += gridDim.x) {
        const struct tile tile = tile_number<from_end>(number, &tiling);
        rows_load<ROWS, from_end>(inputs, coeffs, &tile, own, x, c);
        const struct pair warp_aggregate = rows_scan<ROWS>(x, c, before, lane);
        if (lane == 31)
            totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);
        if (threadIdx.x == NUM_WARPS - 1)
            products[number] = up_to_warp.product, sums[number] = up_to_warp.sum;
        __syncthreads(); /* all have read the totals: the next tile may write them */
    }
    grid.sync();

    /* [carries] 2. What leaves each tile: a scan over the sequence's aggregates. Nothing comes into its first tile. */
    for (unsigned seq = blockIdx.x; seq < num_seqs; seq += gridDim.x) {
        const unsigned first = seq * tiling.seq_tiles;
        float carry = 0.0f;
        for (unsigned base = 0; base < tiling.seq_tiles; base += LOOKBACK_THREADS) {
            const unsigned i = base + threadIdx.x;
            struct pair up_to_here = {1.0f, 0.0f};
            if (i < tiling.seq_tiles)
                up_to_here.product = products[first + i], up_to_here.sum = sums[first + i];
            up_to_here = warp_scan(up_to_here, lane);
            if (lane == 31)
                totals.product[warp] = up_to_here.product, totals.sum[warp] = up_to_here.sum;
            __syncthreads();
            const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);
            if (warp > 0)
                up_to_here = pair_join(pair_shfl(up_to_warp, warp - 1), up_to_here);
            if (i < tiling.seq_tiles)
                carries[first + i] = base == 0 ? up_to_here.sum : carry * up_to_here.product + up_to_here.sum;
            const struct pair all = pair_shfl(up_to_warp, NUM_WARPS - 1);
            carry = base == 0 ? all.sum : carry * all.product + all.sum;
            __syncthreads();
        }
    }
    grid.sync();

    /* [apply] 3. Each tile once more, with what comes into it. */
    for (unsigned number = blockIdx.x; number < tiling.num_tiles; number += gridDim.x) {
        const struct tile tile = tile_number<from_end>(number, &tiling);
        const bool is_first = tile.number_in_seq == 0;
        const float carry = is_first ? 0.0f : carries[number - 1];
        rows_load<ROWS, from_end>(inputs, coeffs, &tile, own, x, c);
        const struct pair warp_aggregate = rows_scan<ROWS>(x, c, before, lane);
        if (lane == 31)
            totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);
        const float inclusive = is_first ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float before_warp = __shfl_sync(ALL_LANES, inclusive, (warp + 31) % 32); /* the warp before's */
        rows_add<ROWS>(x, c, before, warp == 0 ? carry : before_warp, is_first && warp == 0, lane);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            store4<from_end>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
        __syncthreads();
    }
}

/* How many blocks fit the chip at the same time; 0 where launches cannot ask for that. */
static cudaError_t most_blocks(const void *kernel, unsigned *blocks)
{
    struct gpu_info gpu = {};
    int fit = 0; /* on a multiprocessor */
    cudaError_t error = gpu_info_read(&gpu);
    if (error == cudaSuccess && gpu.cooperative)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, LOOKBACK_THREADS, 0);
    *blocks = (unsigned)(fit * gpu.multiprocessors);
    return error;
}

extern "C" cudaError_t lookback_grid_sync(const struct linrec_args *args, cudaStream_t stream)
{
    const struct tiling tiling = lookback_tiling(args, ROWS);
    cudaError_t error = linrec_has_states(args)
                            ? cudaErrorInvalidValue
                            : lookback_check(args, false, &tiling, lookback_three_pass_workspace(args));
    if (error != cudaSuccess || tiling.num_tiles == 0)
        return error;
    float *const products = (float *)args->workspace, *const sums = products + tiling.num_tiles,
                 *const carries = sums + tiling.num_tiles;

    /* [launch] As many blocks as fit, in a launch that has them all or none. */
    void (*const kernel)(struct tiling, const float *, const float *, float *, float *, float *, float *) =
        args->reverse ? grid_sync_forward<1> : grid_sync_forward<0>;
    unsigned most;
    if ((error = most_blocks((const void *)kernel, &most)) != cudaSuccess)
        return error;
    if (most == 0)
        return cudaErrorNotSupported;
    cudaLaunchAttribute together = all_resident();
    cudaLaunchConfig_t launch = launch_of(min(tiling.num_tiles, most), LOOKBACK_THREADS, 0, stream);
    launch.attrs = &together;
    launch.numAttrs = 1;
    return cudaLaunchKernelEx(&launch, kernel, tiling, args->inputs, args->coeffs, args->outputs, products, sums,
                              carries);
}
