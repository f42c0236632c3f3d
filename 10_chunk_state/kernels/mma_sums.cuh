/* SPDX-License-Identifier: MIT */
/* mma_sums.cuh - the products of mma_backward.cu, of matrices that lie in shared memory, by a warp on tensor cores. A
   lane reads its elements of a row in pairs where it can, so that the columns of a sum have another order (mma.cu). */
#ifndef MMA_SUMS_CUH
#define MMA_SUMS_CUH

#include "mma.cuh"

/* What tensor cores take of x: numbers of 16 bits have no small part. */
template <int dtype>
static __device__ __forceinline__ void split(float x, float *big, float *small)
{
    if (dtype == FLOAT32)
        split_tf32(x, big, small);
    else
        *big = x, *small = 0.0f;
}

/* c + rest += a b, where a is of one type and b of another one. */
template <int left, int right>
static __device__ __forceinline__ void multiply_parts(float c[4], float rest[4], const float big[4],
                                                      const float small[4], const float b[2], const float b_small[2])
{
    if (left == FLOAT32)
        mma_tf32(rest, small, b);
    mma_tf32(c, big, b);
    if (right == FLOAT32)
        mma_tf32(rest, big, b_small);
}

/* p = Y' h for 16 columns of h, which has the type `right`, and so many ranks, a multiple of 16. y, h, p: where the
   matrices begin, h and p at the first of these columns. dk: rows of Y and of h. */
template <int dtype, int right, int ranks>
static __device__ __forceinline__ void sums_project(const char *y, const char *h, int dk, float *p)
{
    enum { AT_ONCE = ranks < 32 ? 1 : 2, Y_STRIDE = ranks + SUM_PADDING }; /* times 16 ranks: registers */
    const int lane = threadIdx.x % 32, l = lane / 4, j = lane % 4;
#pragma unroll 1
    for (int first = 0; first < ranks; first += AT_ONCE * 16) {
        float c[AT_ONCE][2][4] = {}, rest[AT_ONCE][2][4] = {};
#pragma unroll 1
        for (int row = j; row - j < dk; row += 8) { /* rows up to a multiple of 8 are there */
            float b[2][2], b_small[2][2];
#pragma unroll
            for (int v = 0; v < 4; v++) /* rows `row` and `row` + 4 of two times 8 columns */
                split<right>(read1<right>(h, (row + v % 2 * 4) * SUM_STRIDE + v / 2 * 8 + l), &b[v / 2][v % 2],
                             &b_small[v / 2][v % 2]);
#pragma unroll
            for (int m = 0; m < AT_ONCE; m++) {
                float big[4], small[4];
#pragma unroll
                for (int v = 0; v < 4; v++)
                    split<dtype>(read1<dtype>(y, (row + v / 2 * 4) * Y_STRIDE + first + m * 16 + v % 2 * 8 + l),
                                 &big[v], &small[v]);
#pragma unroll
                for (int n = 0; n < 2; n++)
                    multiply_parts<dtype, right>(c[m][n], rest[m][n], big, small, b[n], b_small[n]);
            }
        }
#pragma unroll
        for (int v = 0; v < AT_ONCE * 4; v++) { /* two neighbours of a row */
            const int m = v / 4, n = v / 2 % 2, half = v % 2;
            const float *const two = c[m][n] + half * 2, *const more = rest[m][n] + half * 2;
            const float sum[2] = {two[0] + more[0], two[1] + more[1]};
            write2<FLOAT32>(p, (first + m * 16 + half * 8 + l) * SUM_STRIDE + n * 8 + j * 2, sum);
        }
    }
}

/* sum += d p' over so many columns, which are zeros up to a multiple of 8, for the warp's 16 rows of d, which has the
   type `left`, or for the same ones of every SUM_ROWS: d begins with them. */
template <int left, int tiles, int ranks>
static __device__ __forceinline__ void sums_outer(const char *d, const float *p, int columns, float (*sum)[ranks][4])
{
    const int lane = threadIdx.x % 32, l = lane / 4, j = lane % 4;
    float rest[tiles][ranks][4] = {};
#pragma unroll 1
    for (int column = j * 2; column - j * 2 < columns; column += 8) {
        float big[tiles][4], small[tiles][4];
#pragma unroll
        for (int v = 0; v < tiles * 2; v++) { /* two neighbours of row l, and of row l + 8 */
            float x[2];
            read2<left>(d, (v / 2 * SUM_ROWS + v % 2 * 8 + l) * SUM_STRIDE + column, x);
            split<left>(x[0], &big[v / 2][v % 2], &small[v / 2][v % 2]);
            split<left>(x[1], &big[v / 2][v % 2 + 2], &small[v / 2][v % 2 + 2]);
        }
#pragma unroll
        for (int r = 0; r < ranks; r++) {
            float x[2], b[2], b_small[2];
            read2<FLOAT32>(p, (r * 8 + l) * SUM_STRIDE + column, x);
            split_tf32(x[0], &b[0], &b_small[0]);
            split_tf32(x[1], &b[1], &b_small[1]);
#pragma unroll
            for (int t = 0; t < tiles; t++)
                multiply_parts<left, FLOAT32>(sum[t][r], rest[t][r], big[t], small[t], b, b_small);
        }
    }
#pragma unroll
    for (int v = 0; v < tiles * ranks * 4; v++)
        sum[v / 4 / ranks][v / 4 % ranks][v % 4] += rest[v / 4 / ranks][v / 4 % ranks][v % 4];
}

#endif
