/* SPDX-License-Identifier: MIT */
/* 08.1  What each tile does */
#include <cuda_runtime.h>

#include "../../../04_warp_scan/warp_scan.cuh"
#include "../../../06_backward/direction.cuh"

enum { WARPS = 4, TILE = WARPS * 128 };

/* Block b: products[b] and sums[b] of the elements from b * TILE on. */
static __global__ void __launch_bounds__(32 * WARPS)
    tile_aggregates(size_t seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ products, float *__restrict__ sums)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, own = threadIdx.x * 4;
    const size_t begin = (size_t)blockIdx.x * TILE; /* the tile's first element */
    const int last = elems_left(begin, seq_len, TILE);
    float x[4], c[4];

    /* Places behind the end get 0 and 1, which change nothing. */
    load4<0>(inputs + begin, own, 0, last, 0.0f, x);
    load4<0>(coeffs + begin, own, 0, last, 1.0f, c);
    if (begin == 0 && threadIdx.x == 0)
        c[0] = 1.0f;

    struct pair mine = {c[0], x[0]};
#pragma unroll
    for (int i = 1; i < 4; i++) {
        const struct pair next = {c[i], x[i]};
        mine = pair_join(mine, next);
    }

    /* In step d a lane gets what the d lanes before its own d do. In the end lane 31 has all of them; the others have
       something that nobody needs. */
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
        mine = pair_join(pair_shfl_up(mine, d), mine);
    if (lane == 31)
        totals.product[warp] = mine.product, totals.sum[warp] = mine.sum;
    __syncthreads();

    if (threadIdx.x == 0) {
        struct pair tile = {totals.product[0], totals.sum[0]};
#pragma unroll
        for (int w = 1; w < WARPS; w++) {
            const struct pair next = {totals.product[w], totals.sum[w]};
            tile = pair_join(tile, next);
        }
        products[blockIdx.x] = tile.product;
        sums[blockIdx.x] = tile.sum;
    }
}

extern "C" cudaError_t launch_aggregates(size_t seq_len, const float *inputs, const float *coeffs, float *products,
                                         float *sums)
{
    if (seq_len == 0)
        return cudaSuccess;
    tile_aggregates<<<(unsigned)((seq_len - 1) / TILE + 1), 32 * WARPS>>>(seq_len, inputs, coeffs, products, sums);
    return cudaGetLastError();
}
