/* SPDX-License-Identifier: MIT */
/* mma.cuh - products of mma.cu on tensor cores that are as exact as float32: the operands are split into two tf32
   numbers. And how two warps of mma.cu multiply with Y and W as they lie in a stage. */
#ifndef MMA_CUH
#define MMA_CUH

#include "../../common/cuda/mma_sync.h"

#include "low_rank_stage.cuh"

/* x = big + small: big is x rounded to the 11 bits of tf32, small the rest, exactly. */
static __device__ __forceinline__ void split_tf32(float x, float *big, float *small)
{
    *big = __uint_as_float((__float_as_uint(x) + 0x1000) & 0xFFFFE000u);
    *small = x - *big;
}

/* The result of one product becomes the left operand of another one. */
static __device__ __forceinline__ void split_left(const float c[4], float big[4], float small[4])
{
    split_tf32(c[0], &big[0], &small[0]);
    split_tf32(c[2], &big[1], &small[1]);
    split_tf32(c[1], &big[2], &small[2]);
    split_tf32(c[3], &big[3], &small[3]);
}

/* c + rest += a (b0, b1): the products of big parts to c, those of a big and a small one to rest. W and Y of 16 bits
   have no small parts. */
template <int dtype>
static __device__ __forceinline__ void multiply(float c[4], float rest[4], const float big[4], const float small[4],
                                                float b0, float b1)
{
    float b[2] = {b0, b1}, b_small[2];
    if (dtype == FLOAT32) {
        split_tf32(b0, &b[0], &b_small[0]);
        split_tf32(b1, &b[1], &b_small[1]);
    }
    mma_tf32(rest, small, b);
    mma_tf32(c, big, b);
    if (dtype == FLOAT32)
        mma_tf32(rest, big, b_small);
}

/* Lane l or j reads up to 16 bytes of a row: so many neighbouring ranks, one for each tile, or for half of them. */
template <int dtype, int ranks>
static __device__ __forceinline__ constexpr int each(void)
{
    return dtype == FLOAT32 && ranks > 4 ? 4 : ranks;
}

template <int dtype, int ranks>
static __device__ __forceinline__ void load_ranks(const char *from, float b[ranks])
{
#pragma unroll
    for (int v = 0; v < ranks; v += each<dtype, ranks>())
        if (each<dtype, ranks>() == 8)
            unpack16<dtype>(*(const uint4 *)from, b);
        else if (each<dtype, ranks>() == 4)
            read4<dtype>(from, v * 8, b + v);
        else
            read2<dtype>(from, 0, b);
}

/* p' += h' Y for a tile of h. y: what the lane takes of its two rows, which are `next` bytes apart. */
template <int dtype, int ranks>
static __device__ __forceinline__ void project(const char *y, unsigned next, const float h[4], float (*p)[4],
                                               float (*rest)[4])
{
    float big[4], small[4], first[ranks], second[ranks];
    load_ranks<dtype, ranks>(y, first);
    load_ranks<dtype, ranks>(y + next, second);
    split_left(h, big, small);
#pragma unroll
    for (int v = 0; v < ranks; v++)
        multiply<dtype>(p[v], rest[v], big, small, first[v], second[v]);
}

/* t' = p' W' for a tile of h. w: what the lane takes of its row, in two parts `own` bytes apart. */
template <int dtype, int ranks>
static __device__ __forceinline__ void multiply_back(const char *w, unsigned own, const float (*big)[4],
                                                     const float (*small)[4], float t[4])
{
    float sum[2][4] = {}, rest[2][4] = {}, first[ranks], second[ranks];
    load_ranks<dtype, ranks>(w, first);
    load_ranks<dtype, ranks>(w + own, second);
#pragma unroll
    for (int v = 0; v < ranks; v++) /* two sums, so that fewer products wait for the one before */
        multiply<dtype>(sum[v % 2], rest[v % 2], big[v], small[v], first[v], second[v]);
#pragma unroll
    for (int c = 0; c < 4; c++)
        t[c] = (sum[0][c] + sum[1][c]) + (rest[0][c] + rest[1][c]);
}

/* One of two numbers, by a mask of ones or zeros, without a branch. */
static __device__ __forceinline__ float select_bits(unsigned mask, float first, float second)
{
    return __uint_as_float((__float_as_uint(first) & mask) | (__float_as_uint(second) & ~mask));
}

#endif
