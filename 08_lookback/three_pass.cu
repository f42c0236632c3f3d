/* three_pass.cu - chapter 01's threads, in blocks. Each tile is summed up by itself, then the tiles' totals are
   scanned, then each tile is computed with what comes into it. Three launches, and between two of them everybody has
   finished.

       totals      | tile 0 | tile 1 | tile 2 | ...      reads x and c         8 bytes an element
       carries     (product, sum) of each tile           chapter 05's default: the totals are a linear recurrence, too
       apply       | tile 0 | tile 1 | tile 2 | ...      reads x and c again, writes y        12 bytes an element    */
#include <cuda_runtime.h>

#include "lookback.cuh"

enum { ROWS = LOOKBACK_ROWS, NUM_WARPS = LOOKBACK_THREADS / 32 };

/* Block b: products[b] and sums[b] of tile b. */
template <int reverse>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    three_pass_totals(struct cut cut, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                      float *__restrict__ products, float *__restrict__ sums)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const struct tile tile = tile_number<reverse>(blockIdx.x, &cut);
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

    rows_load<ROWS, reverse>(inputs, coeffs, &tile, warp * ROWS * PIPE_ROW + lane * 4, x, c);
    const struct pair whole_warp = rows_scan<ROWS>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = whole_warp.product, totals.sum[warp] = whole_warp.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);
    if (threadIdx.x == NUM_WARPS - 1)
        products[blockIdx.x] = up_to_warp.product, sums[blockIdx.x] = up_to_warp.sum;
}

/* Block b: tile b. carries: what leaves each tile. */
template <int reverse>
static __global__ void __launch_bounds__(LOOKBACK_THREADS)
    three_pass_apply(struct cut cut, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                     const float *__restrict__ carries, float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4;
    const struct tile tile = tile_number<reverse>(blockIdx.x, &cut);
    const bool nothing = tile.number_in_seq == 0; /* comes into the tile */
    const float carry = nothing ? 0.0f : carries[blockIdx.x - 1];
    float x[ROWS][4], c[ROWS][4];
    struct pair before[ROWS];

    rows_load<ROWS, reverse>(inputs, coeffs, &tile, own, x, c);
    const struct pair whole_warp = rows_scan<ROWS>(x, c, before, lane);
    if (lane == 31)
        totals.product[warp] = whole_warp.product, totals.sum[warp] = whole_warp.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, NUM_WARPS, lane);
    const float leaves = nothing ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
    const float before_warp = __shfl_sync(ALL_LANES, leaves, (warp + 31) % 32); /* what leaves the warp before */
    rows_add<ROWS>(x, c, before, warp == 0 ? carry : before_warp, nothing && warp == 0, lane);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        store4<reverse>(outputs + tile.at, own + r * PIPE_ROW, tile.first, tile.last, x[r]);
}

/* Products, sums and what leaves each tile, each from a multiple of 16 bytes on. */
static size_t array_len(const struct cut *cut)
{
    return ((size_t)cut->num_tiles + 3) & ~(size_t)3;
}

extern "C" size_t lookback_three_pass_workspace(const struct linrec_args *args)
{
    const struct cut cut = lookback_cut(args, ROWS);
    return 3 * array_len(&cut) * sizeof(float);
}

extern "C" cudaError_t lookback_three_pass(const struct linrec_args *args, cudaStream_t stream)
{
    const struct cut cut = lookback_cut(args, ROWS);
    cudaError_t error = lookback_check(args, false, &cut);
    if (error != cudaSuccess || cut.num_tiles == 0)
        return error;
    if (args->workspace_size < lookback_three_pass_workspace(args))
        return cudaErrorInvalidValue;
    float *const products = (float *)args->workspace, *const sums = products + array_len(&cut),
                 *const carries = sums + array_len(&cut);
    struct linrec_args between = *args;
    between.seq_len = cut.seq_tiles, between.reverse = false;
    between.inputs = sums, between.coeffs = products, between.outputs = carries;

    (args->reverse ? three_pass_totals<1> : three_pass_totals<0>)<<<cut.num_tiles, LOOKBACK_THREADS, 0, stream>>>(
        cut, args->inputs, args->coeffs, products, sums);
    if ((error = cudaGetLastError()) == cudaSuccess)
        error = pipe_default_forward(&between, stream);
    if (error != cudaSuccess)
        return error;
    (args->reverse ? three_pass_apply<1> : three_pass_apply<0>)<<<cut.num_tiles, LOOKBACK_THREADS, 0, stream>>>(
        cut, args->inputs, args->coeffs, carries, args->outputs);
    return cudaGetLastError();
}
