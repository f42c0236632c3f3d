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

SIM_INLINE unsigned sim_word(unsigned x)
{
    return x;
}

SIM_INLINE unsigned sim_word(float x)
{
    return __float_as_uint(x);
}

typedef double sim_number(unsigned word, int which);

SIM_INLINE double sim_tf32_number(unsigned word, int)
{
    return sim_tf32(__uint_as_float(word));
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
                                        : (1024 + rest) * (double)(1u << exponent) * 0x1p-25;
    return half >> 15 != 0 ? -size : size;
}

struct sim_sums {
    float of[4];
};

/* c + a b of words that hold so many numbers. Each lane finds the words that it needs at those that have them: all at
   once, where nobody looks at the shuffles one by one. Not inlined, as in mma.h, and not watched: by value. */
template <int count>
__attribute__((noinline, no_sanitize("thread", "address"))) sim_sums
sim_multiply(sim_sums c, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1,
             sim_number *number, const char *file, int line)
{
    const int row = threadIdx.x % 32 / 4 * 4, column = threadIdx.x % 4 * 8;
    sim_fragment own = {{a0, a1, a2, a3}, {b0, b1}, {}};
    double sum[4] = {c.of[0], c.of[1], c.of[2], c.of[3]};
    if (!sim_warp_call(SIM_FRAGMENTS, 0xFFFFFFFFu, (uint64_t)(uintptr_t)&own, 0, 32, file, line))
        for (int k = 0; k < 8; k++) {
            own.got[k][0] = __shfl_sync(0xFFFFFFFFu, own.a[k / 4 * 2], row + k % 4, 32, file, line);
            own.got[k][1] = __shfl_sync(0xFFFFFFFFu, own.a[k / 4 * 2 + 1], row + k % 4, 32, file, line);
            own.got[k][2] = __shfl_sync(0xFFFFFFFFu, own.b[k / 4], column + k % 4, 32, file, line);
            own.got[k][3] = __shfl_sync(0xFFFFFFFFu, own.b[k / 4], column + 4 + k % 4, 32, file, line);
        }
    for (const unsigned(&got)[4] : own.got)
        for (int i = 0; i < count; i++) {
            const double left = number(got[0], i), below = number(got[1], i);
            const double first = number(got[2], i), second = number(got[3], i);
            sum[0] += left * first, sum[1] += left * second, sum[2] += below * first, sum[3] += below * second;
        }
    return {{sim_truncate(sum[0]), sim_truncate(sum[1]), sim_truncate(sum[2]), sim_truncate(sum[3])}};
}

/* c += a b. */
template <int count, class word>
SIM_INLINE void sim_multiply_add(float c[4], const word a[4], const word b[2], sim_number *number, const char *what,
                                 const char *file, int line)
{
    const sim_sums sums =
        sim_multiply<count>({{c[0], c[1], c[2], c[3]}}, sim_word(a[0]), sim_word(a[1]), sim_word(a[2]), sim_word(a[3]),
                            sim_word(b[0]), sim_word(b[1]), number, file, line);
    for (int i = 0; i < 4; i++)
        c[i] = sums.of[i];
    sim_fragments(what, a, b, c);
}

SIM_INLINE void mma_tf32(float c[4], const float a[4], const float b[2], SIM_AT)
{
    sim_multiply_add<1>(c, a, b, sim_tf32_number, "mma_tf32", file, line);
}

SIM_INLINE void mma_bf16(float c[4], const unsigned a[4], const unsigned b[2], SIM_AT)
{
    sim_multiply_add<2>(c, a, b, sim_bf16, "mma_bf16", file, line);
}

SIM_INLINE void mma_fp16(float c[4], const unsigned a[4], const unsigned b[2], SIM_AT)
{
    sim_multiply_add<2>(c, a, b, sim_fp16, "mma_fp16", file, line);
}

#endif
