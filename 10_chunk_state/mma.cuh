/* mma.cuh - products on tensor cores that are as exact as float32: the operands are cut into two tf32 numbers. And how
   two warps of mma.cu multiply with Y and W as they lie in a stage. */
#ifndef MMA_CUH
#define MMA_CUH

#include <tensor_core.h>

#include "low_rank.cuh"

/* x = big + small: big is x rounded to the 11 bits of tf32, small the rest, exactly. */
static __device__ __forceinline__ void split(float x, float *big, float *small)
{
    *big = __uint_as_float((__float_as_uint(x) + 0x1000) & 0xFFFFE000u);
    *small = x - *big;
}

/* What a step has given becomes the matrix on the left of another one. */
static __device__ __forceinline__ void turn(const float c[4], float big[4], float small[4])
{
    split(c[0], &big[0], &small[0]);
    split(c[2], &big[1], &small[1]);
    split(c[1], &big[2], &small[2]);
    split(c[3], &big[3], &small[3]);
}

/* c + rest += a (b0, b1): the products of big parts to c, those of a big and a small one to rest. W and Y of 16 bits have
   no small parts. */
template <int storage>
static __device__ __forceinline__ void multiply(float c[4], float rest[4], const float big[4], const float small[4],
                                                float b0, float b1)
{
    float b[2] = {b0, b1}, b_small[2];
    if (storage == FLOAT32) {
        split(b0, &b[0], &b_small[0]);
        split(b1, &b[1], &b_small[1]);
    }
    mma_tf32(rest, small, b);
    mma_tf32(c, big, b);
    if (storage == FLOAT32)
        mma_tf32(rest, big, b_small);
}

/* p' = h' Y for the warp's rows and ranks. y: in its first row what the lane takes; rows are `next` bytes apart. */
template <int storage, int tiles, int ranks>
static __device__ __forceinline__ void project(const char *y, unsigned next, const float (*h)[4], float (*p)[4])
{
    float rest[ranks][4] = {};
#pragma unroll
    for (int v = 0; v < ranks * 4; v++)
        p[v / 4][v % 4] = 0.0f;
#pragma unroll
    for (int i = 0; i < tiles; i++) {
        float big[4], small[4], b[2][ranks];
#pragma unroll
        for (int c = 0; c < 2; c++)
            if (ranks == 4)
                read4<storage>(y + (i * 8 + c) * next, 0, b[c]);
            else
                read2<storage>(y + (i * 8 + c) * next, 0, b[c]);
        turn(h[i], big, small);
#pragma unroll
        for (int v = 0; v < ranks; v++)
            multiply<storage>(p[v], rest[v], big, small, b[0][v], b[1][v]);
    }
#pragma unroll
    for (int v = 0; v < ranks * 4; v++)
        p[v / 4][v % 4] += rest[v / 4][v % 4];
}

/* t' = p' W' for four tiles of the warp's rows, and for its ranks. */
template <int storage, int ranks>
static __device__ __forceinline__ void multiply_back(const char *w, unsigned next, const float (*big)[4],
                                                     const float (*small)[4], float t[4][4])
{
    float rest[4][4] = {}, b[4][2 * ranks];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
            t[i][c] = 0.0f;
            if (c < ranks / 2)
                read4<storage>(w + i * 8 * next, c * 4, b[i] + c * 4);
        }
#pragma unroll
    for (int v = 0; v < ranks; v++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            multiply<storage>(t[i], rest[i], big[v], small[v], b[i][v], b[i][ranks + v]);
#pragma unroll
    for (int v = 0; v < 16; v++)
        t[v / 4][v % 4] += rest[v / 4][v % 4];
}

/* One of two numbers, by a mask of ones or zeros, without a branch. */
static __device__ __forceinline__ float choose(unsigned mask, float first, float second)
{
    return __uint_as_float((__float_as_uint(first) & mask) | (__float_as_uint(second) & ~mask));
}

#endif
