/* SPDX-License-Identifier: MIT */
/* fast_math.h - functions that a GPU's special function units give in one instruction, and how wrong they may be.

   They are PTX (PTX ISA, "ex2", "rcp"), as CUDA C's own exp2f does a little more: it saves results below 2^-126.
   Here those, and such arguments, count as 0 ("ftz", flush to zero). The errors are those that the PTX ISA states. A
   bound may count on them, and on nothing better: chips differ. (common/tests/fast_math.t tries all floats on a GPU.)
   The simulator has them in sim_fast_math.h, in which the functions are as exact as the C library. */
#ifndef FAST_MATH_H
#define FAST_MATH_H

#ifdef CUSIM
#include <sim_fast_math.h>
#else

/* 2^x. Relative error up to 2^-22. 0 for -infinity, infinity for infinity and from 128 on, NaN for NaN. For e^x give it
   x log2(e), and count the rounding of that product, which the exponential makes |x| times as large. */
static __device__ __forceinline__ float fast_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 1 / x. Relative error up to 2^-23. Infinity for 0, with its sign; 0 for infinity and for |x| above 2^126. */
static __device__ __forceinline__ float fast_rcp(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

#endif /* CUSIM */
#endif
