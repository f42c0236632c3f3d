/* SPDX-License-Identifier: MIT */
/* sim_fast_math.h - stands in for functions over PTX: as exact as the C library, but what is smaller than 2^-126
   counts as 0 here, too. */
#ifndef SIM_FAST_MATH_H
#define SIM_FAST_MATH_H

#include "cuda_runtime.h"

SIM_INLINE float sim_flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

/* 2^x */
SIM_INLINE float fast_exp2(float x)
{
    return sim_flush(exp2f(sim_flush(x)));
}

/* The logarithm of x to base 2. */
SIM_INLINE float fast_log2(float x)
{
    return log2f(sim_flush(x));
}

/* 1 / x */
SIM_INLINE float fast_rcp(float x)
{
    return sim_flush(1.0f / sim_flush(x));
}

#endif
