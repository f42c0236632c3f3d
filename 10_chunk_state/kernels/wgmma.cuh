/* SPDX-License-Identifier: MIT */
/* wgmma.cuh - float32 numbers for tensor cores that take bf16: split into three parts, which are exact together. And
   how wgmma.cu multiplies with Y and W as they lie in a stage. */
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include "../../common/cuda/wgmma.h"

#include "low_rank_stage.cuh"

/* 16 rows of h or p, transposed, as left operands of two products. */
struct left_operand {
    unsigned big[4];   /* row l: the big parts of column l; row l + 8: the middle ones */
    unsigned small[4]; /* row l: nothing; row l + 8: the small ones */
};

/* Zeros, once for all. The compiler must not know it: it would write them anew for each product. */
static __device__ __forceinline__ void left_clear(struct left_operand *left)
{
    left->small[0] = opaque(0);
    left->small[2] = opaque(0);
}

/* The first 8 of the 24 bits of two numbers, as two bf16 in a word. x: what is left of them, exactly. */
static __device__ __forceinline__ unsigned split_bf16(float x[2])
{
    const unsigned first = __float_as_uint(x[0]), second = __float_as_uint(x[1]);
    x[0] -= __uint_as_float(first & 0xFFFF0000u);
    x[1] -= __uint_as_float(second & 0xFFFF0000u);
    return first >> 16 | (second & 0xFFFF0000u);
}

/* The lane's two elements of the first or the second 8 rows. */
static __device__ __forceinline__ void left_set(struct left_operand *left, int which, float first, float second)
{
    float x[2] = {first, second};
    left->big[which * 2] = split_bf16(x);
    left->big[which * 2 + 1] = split_bf16(x);
    left->small[which * 2 + 1] = split_bf16(x);
}

/* The same of p, which is the sum of what the big parts gave and the others. */
static __device__ __forceinline__ void split_sums(struct left_operand *left, const float (*p)[4])
{
    left_set(left, 0, p[0][0] + p[0][2], p[0][1] + p[0][3]);
    left_set(left, 1, p[1][0] + p[1][2], p[1][1] + p[1][3]);
}

template <int n, bool by_rows>
static __device__ __forceinline__ void multiply(float (*c)[4], const struct left_operand *left, wgmma_matrix b,
                                                bool add)
{
    wgmma_multiply<n, by_rows>(c, left->big, b, add);
    wgmma_multiply<n, by_rows>(c, left->small, b, true);
}

/* t' = p' W' for 32 rows of h. */
template <int ranks>
static __device__ __forceinline__ void multiply_back(float (*t)[4], const struct left_operand *p, wgmma_matrix w)
{
#pragma unroll
    for (int r = 0; r < ranks / 16; r++)
        multiply<32, false>(t, &p[r], wgmma_matrix_at(w, r * 32), r != 0);
}

/* p' = h' Y for 16 rows of h, or if `add` p' += h' Y. parts: h's. */
template <int ranks>
static __device__ __forceinline__ void project(float (*p)[4], struct left_operand *parts, const float (*h)[2],
                                               wgmma_matrix y, bool add)
{
    left_set(parts, 0, h[0][0], h[0][1]);
    left_set(parts, 1, h[1][0], h[1][1]);
    wgmma_begin();
    multiply<ranks, true>(p, parts, y, add);
}

#endif
