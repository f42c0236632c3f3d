/* mma_bf16.cuh - products on tensor cores that are as exact as float32, where one of the matrices is bf16: the other one
   is cut into three bf16 numbers. How a warp of mma_bf16.cu multiplies with Y and W as they lie in a stage. */
#ifndef MMA_BF16_CUH
#define MMA_BF16_CUH

#include <tensor_core.h>

#include "low_rank.cuh"

/* The first 8 of the 24 bits of two numbers, as two bf16 in a word. x: what is left of them, exactly. */
static __device__ __forceinline__ unsigned cut(float x[2])
{
    const unsigned first = __float_as_uint(x[0]), second = __float_as_uint(x[1]);
    x[0] -= __uint_as_float(first & 0xFFFF0000u);
    x[1] -= __uint_as_float(second & 0xFFFF0000u);
    return first >> 16 | (second & 0xFFFF0000u);
}

/* Two words of a matrix on the left, of rows l and l + 8: the big parts of two numbers and the middle ones; and of a
   second matrix, nothing and the small ones. */
static __device__ __forceinline__ void turn(float first, float second, unsigned big[2], unsigned small[2])
{
    float x[2] = {first, second};
    big[0] = cut(x);
    big[1] = cut(x);
    small[0] = 0;
    small[1] = cut(x);
}

/* p' += h' Y for 16 rows of h, of which the lane has four. y: the lane's row of Y. */
template <int ranks>
static __device__ __forceinline__ void project(const char *y, const float (*h)[2], float (*p)[4])
{
    unsigned big[4], small[4], b[ranks][4];
#pragma unroll
    for (int r = 0; r < ranks; r++)
        load_matrices_transposed(b[r], y + r * 32);
    turn(h[0][0], h[0][1], big, small);
    turn(h[1][0], h[1][1], big + 2, small + 2);
#pragma unroll
    for (int v = 0; v < ranks * 2; v++)
        mma_bf16(p[v], big, b[v / 2] + v % 2 * 2);
#pragma unroll
    for (int v = 0; v < ranks * 2; v++)
        mma_bf16(p[v], small, b[v / 2] + v % 2 * 2);
}

/* t' = p' W' for 16 rows of h. w: the lane's row of W. */
template <int ranks>
static __device__ __forceinline__ void multiply_back(const char *w, const unsigned (*big)[4],
                                                     const unsigned (*small)[4], float (*t)[2])
{
    float sum[2][4] = {}, rest[2][4] = {};
#pragma unroll
    for (int r = 0; r < ranks; r++) {
        unsigned b[4];
        load_matrices(b, w + r * 32);
#pragma unroll
        for (int i = 0; i < 2; i++)
            mma_bf16(sum[i], big[r], b + i * 2);
#pragma unroll
        for (int i = 0; i < 2; i++)
            mma_bf16(rest[i], small[r], b + i * 2);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        t[i][0] = sum[i][0] + (sum[i][2] + rest[i][2]);
        t[i][1] = sum[i][1] + (sum[i][3] + rest[i][3]);
    }
}

#endif
