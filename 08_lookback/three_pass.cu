/* SPDX-License-Identifier: MIT */
/* three_pass.cu - chapter 01's threads, in blocks. Each tile is summed up by itself, then the tiles' aggregates are
   scanned, then each tile is computed with what comes into it. Three launches, and between two of them everybody has
   finished.

       aggregates  | tile 0 | tile 1 | tile 2 | ...      reads x and c         8 bytes an element
       carries     (product, sum) of each tile           chapter 05's default: they are a linear recurrence, too
       apply       | tile 0 | tile 1 | tile 2 | ...      reads x and c again, writes y        12 bytes an element    */
#include <cuda_runtime.h>

#include "../05_pipe/default.h"
#include "../common/cuda/launch_of.h"
#include "lookback.h"
#include "warp_rows.cuh"

enum { ROWS = LOOKBACK_ROWS, NUM_WARPS = LOOKBACK_THREADS / 32 };

/* Block b: products[b] and sums[b] of tile b. */
template <int from_end>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    three_pass_aggregates(struct tiling tiling, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                          float *__restrict__ products, float *__restrict__ sums)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const struct tile tile = tile_number<from_end>(blockIdx.x, &tiling);
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

    rows_load<ROWS, from_end>(inputs, coeffs, &tile, warp * ROWS * PIPE_ROW + lane * 4, x, c);
    const struct pair warp_aggregate = rows_scan<ROWS>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = warp_aggregate.product, totals.sum[warp] = warp_aggregate.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);
    if (threadIdx.x == NUM_WARPS - 1)
        products[blockIdx.x] = up_to_warp.product, sums[blockIdx.x] = up_to_warp.sum;
}

/* Block b: tile b. carries: what leaves each tile. */
template <int from_end>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    three_pass_apply(struct tiling tiling, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                     const float *__restrict__ carries, float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4;
    const struct tile tile = tile_number<from_end>(blockIdx.x, &tiling);
    const bool is_first = tile.number_in_seq == 0; /* nothing comes into it */
    const float carry = is_first ? 0.0f : carries[blockIdx.x - 1];
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

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
}

/* Products, sums and what leaves each tile, each from a multiple of 16 bytes on. */
static size_t array_len(const struct tiling *tiling)
{
    return ((size_t)tiling->num_tiles + 3) & ~(size_t)3;
}

extern "C" size_t lookback_three_pass_workspace(const struct linrec_args *args)
{
    const struct tiling tiling = lookback_tiling(args, ROWS);
    return 3 * array_len(&tiling) * sizeof(float);
}

extern "C" cudaError_t lookback_three_pass(const struct linrec_args *args, cudaStream_t stream)
{
    const struct tiling tiling = lookback_tiling(args, ROWS);
    cudaError_t error = linrec_has_states(args)
                            ? cudaErrorInvalidValue
                            : lookback_check(args, false, &tiling, lookback_three_pass_workspace(args));
    if (error != cudaSuccess || tiling.num_tiles == 0)
        return error;
    float *const products = (float *)args->workspace, *const sums = products + array_len(&tiling),
                 *const carries = sums + array_len(&tiling);

    /* [launches] What leaves each tile is a recurrence over the aggregates, which chapter 05 computes. */
    struct linrec_args between = *args;
    between.seq_len = tiling.seq_tiles, between.reverse = false;
    between.inputs = sums, between.coeffs = products, between.outputs = carries;

    const cudaLaunchConfig_t tiles = launch_of(tiling.num_tiles, LOOKBACK_THREADS, 0, stream);
    error = cudaLaunchKernelEx(&tiles, args->reverse ? three_pass_aggregates<1> : three_pass_aggregates<0>, tiling,
                               args->inputs, args->coeffs, products, sums);
    if (error == cudaSuccess)
        error = pipe_default_forward(&between, stream);
    if (error != cudaSuccess)
        return error;
    return cudaLaunchKernelEx(&tiles, args->reverse ? three_pass_apply<1> : three_pass_apply<0>, tiling, args->inputs,
                              args->coeffs, carries, args->outputs);
}
