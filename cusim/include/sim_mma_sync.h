/* SPDX-License-Identifier: MIT */
/* sim_mma_sync.h - stands in for functions over PTX: the sum of a step's products (8, or 16 of 16 bits) and c is
   exact, but for double's rounding, and then rounded toward zero. */
#ifndef SIM_MMA_SYNC_H
#define SIM_MMA_SYNC_H

#include "cuda_runtime.h"

/* Tells who plays the kernel what this lane holds of the matrices of a call: its words of a and of b, and its sums. Of
   a load it is one list, of four words, and the others are NULL. */
extern "C" void sim_fragments(const char *what, const void *a, const void *b, const float *c);

/* x without the bits that tf32 does not have. */
SIM_INLINE float sim_tf32(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xFFFFE000u);
}

/* Toward zero. */
SIM_INLINE float sim_truncate(double x)
{
    const float y = (float)x;
    return fabs((double)y) > fabs(x) ? nextafterf(y, 0.0f) : y;
}

/* c += a b. Each lane finds the elements that it needs at those that have them. */
SIM_INLINE void mma_tf32(float c[4], const float a[4], const float b[2], SIM_AT)
{
    const int lane = threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
    double sum[4] = {c[0], c[1], c[2], c[3]};
    for (int k = 0; k < 8; k++) {
        const float left = sim_tf32(__shfl_sync(0xFFFFFFFFu, a[k / 4 * 2], row + k % 4, 32, file, line));
        const float below = sim_tf32(__shfl_sync(0xFFFFFFFFu, a[k / 4 * 2 + 1], row + k % 4, 32, file, line));
        const float first = sim_tf32(__shfl_sync(0xFFFFFFFFu, b[k / 4], column + k % 4, 32, file, line));
        const float second = sim_tf32(__shfl_sync(0xFFFFFFFFu, b[k / 4], column + 4 + k % 4, 32, file, line));
        sum[0] += (double)left * first, sum[1] += (double)left * second;
        sum[2] += (double)below * first, sum[3] += (double)below * second;
    }
    for (int i = 0; i < 4; i++)
        c[i] = sim_truncate(sum[i]);
    sim_fragments("mma_tf32", a, b, c);
}

/* One of the two bf16 or fp16 numbers of a word. */
SIM_INLINE double sim_bf16(unsigned word, int which)
{
    return __uint_as_float(which == 0 ? word << 16 : word & 0xFFFF0000u);
}

SIM_INLINE double sim_fp16(unsigned word, int which)
{
    const unsigned half = which == 0 ? word & 0xFFFF : word >> 16, exponent = half >> 10 & 31, rest = half & 1023;
    const double size = exponent == 31  ? (rest == 0 ? (double)INFINITY : (double)NAN)
                        : exponent == 0 ? rest * 0x1p-24
                                        : ldexp(1024 + rest, (int)exponent - 25);
    return half >> 15 != 0 ? -size : size;
}

/* c += a b of one of these types. */
SIM_INLINE void sim_mma_16(float c[4], const unsigned a[4], const unsigned b[2], double (*number)(unsigned, int),
                           const char *file, int line)
{
    const int lane = threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
    double sum[4] = {c[0], c[1], c[2], c[3]};
    for (int k = 0; k < 8; k++) { /* two at once */
        const unsigned left = __shfl_sync(0xFFFFFFFFu, a[k / 4 * 2], row + k % 4, 32, file, line);
        const unsigned below = __shfl_sync(0xFFFFFFFFu, a[k / 4 * 2 + 1], row + k % 4, 32, file, line);
        const unsigned first = __shfl_sync(0xFFFFFFFFu, b[k / 4], column + k % 4, 32, file, line);
        const unsigned second = __shfl_sync(0xFFFFFFFFu, b[k / 4], column + 4 + k % 4, 32, file, line);
        for (int h = 0; h < 2; h++) {
            sum[0] += number(left, h) * number(first, h), sum[1] += number(left, h) * number(second, h);
            sum[2] += number(below, h) * number(first, h), sum[3] += number(below, h) * number(second, h);
        }
    }
    for (int i = 0; i < 4; i++)
        c[i] = sim_truncate(sum[i]);
}

SIM_INLINE void mma_bf16(float c[4], const unsigned a[4], const unsigned b[2], SIM_AT)
{
    sim_mma_16(c, a, b, sim_bf16, file, line);
    sim_fragments("mma_bf16", a, b, c);
}

SIM_INLINE void mma_fp16(float c[4], const unsigned a[4], const unsigned b[2], SIM_AT)
{
    sim_mma_16(c, a, b, sim_fp16, file, line);
    sim_fragments("mma_fp16", a, b, c);
}

#endif
