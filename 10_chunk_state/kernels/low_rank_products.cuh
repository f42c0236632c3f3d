/* SPDX-License-Identifier: MIT */
/* low_rank_products.cuh - the products of low_rank.cu and low_rank_backward.cu with a thin matrix. A warp has 8 columns
   of the block with all their rows, a thread two columns of every ROW_LANES-th row. */
#ifndef LOW_RANK_PRODUCTS_CUH
#define LOW_RANK_PRODUCTS_CUH

#include "low_rank_stage.cuh"

/* p = Y^T h for some ranks, 4 or 8. y: the first of them in the thread's first row, its next one is `step` bytes
   further. p: where the warp's sums of the first rank go. */
template <int dtype, int rows, int ranks>
static __device__ __forceinline__ void project(const char *y, unsigned step, const float (*h)[2], float *p)
{
    const int lane = threadIdx.x % 32, part = lane / COLUMN_LANES;
    float sum[ranks * 2] = {}, four[4];
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) { /* four ranks of a row */
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<dtype>(y + i * step, r, four);
        sum[r * 2] += four[r % 4] * h[i][0];
        sum[r * 2 + 1] += four[r % 4] * h[i][1];
    }
    /* [halves] In each step a lane gives one half of the sums that it has left to its partner. */
#pragma unroll
    for (int d = ROW_LANES / 2; d > 0; d /= 2) {
        const int left = ranks * 2 * d / ROW_LANES;
#pragma unroll
        for (int v = 0; v < ranks; v++) {
            if (v >= left)
                continue;
            const bool upper = lane & COLUMN_LANES * d;
            const float given = upper ? sum[v] : sum[v + left], kept = upper ? sum[v + left] : sum[v];
            sum[v] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, COLUMN_LANES * d);
        }
        if (left == 0) /* or has one only: then both get the same */
            sum[0] += __shfl_xor_sync(0xFFFFFFFFu, sum[0], COLUMN_LANES * d);
    }
    /* [write] Now it has `each` of them, from the first one on. */
    const int each = ranks * 2 / ROW_LANES, first = part * ranks * 2 / ROW_LANES;
    if (each == 2)
        write2<FLOAT32>(p, first / 2 * COLUMN_LANES * 2, sum);
    else if (each == 1 || part % 2 == 0)
        p[first / 2 * COLUMN_LANES * 2 + first % 2] = sum[0];
}

/* h -= W p for these ranks. p: the thread's columns of the first rank. */
template <int dtype, int rows, int ranks>
static __device__ __forceinline__ void subtract(const char *w, unsigned step, const float *p, float (*h)[2])
{
    float of_p[ranks][2], four[4];
#pragma unroll
    for (int r = 0; r < ranks; r++)
        read2<FLOAT32>(p, r * COLUMN_LANES * 2, of_p[r]);
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) {
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<dtype>(w + i * step, r, four);
        h[i][0] -= four[r % 4] * of_p[r][0];
        h[i][1] -= four[r % 4] * of_p[r][1];
    }
}

/* The thread's rows of h take the place of those of h_local. */
template <int dtype, int rows>
static __device__ __forceinline__ void store_rows(char *x, const float (*h)[2])
{
#pragma unroll
    for (int i = 0; i < rows; i++)
        write2<dtype>(x, i * ROW_LANES * X_STRIDE, h[i]);
}

#endif
