/* SPDX-License-Identifier: MIT */
/* 12.2  From tiles to a stretch */
#include <cuda_runtime.h>

#include "../../../04_warp_scan/warp_scan.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS };

static __global__ void __launch_bounds__(THREADS)
    join_tiles(int num_tiles, const float *__restrict__ products, const float *__restrict__ sums,
               float *__restrict__ product, float *__restrict__ sum)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t row = (size_t)blockIdx.x * num_tiles; /* where the sequence's pairs begin */
    const int each = (num_tiles + THREADS - 1) / THREADS, begin = threadIdx.x * each;
    struct pair mine = {1.0f, 0.0f}; /* what changes nothing, behind others */

    /* Neighbouring tiles belong to one thread, so that the threads have them in order. */
    for (int t = begin; t < begin + each && t < num_tiles; t++) {
        const struct pair next = {products[row + t], sums[row + t]};
        mine = t == begin ? next : pair_join(mine, next);
    }
    mine = warp_scan(mine, lane);
    if (lane == 31)
        totals.product[warp] = mine.product, totals.sum[warp] = mine.sum;
    __syncthreads();

    if (threadIdx.x == 0) {
        struct pair all = {totals.product[0], totals.sum[0]};
        for (int w = 1; w < WARPS; w++) {
            const struct pair next = {totals.product[w], totals.sum[w]};
            all = pair_join(all, next);
        }
        product[blockIdx.x] = all.product, sum[blockIdx.x] = all.sum;
    }
}

extern "C" cudaError_t launch_join_tiles(size_t num_seqs, size_t num_tiles, const float *products, const float *sums,
                                         float *product, float *sum)
{
    if (num_seqs == 0 || num_tiles == 0)
        return cudaSuccess;
    join_tiles<<<(unsigned)num_seqs, THREADS>>>((int)num_tiles, products, sums, product, sum);
    return cudaGetLastError();
}
