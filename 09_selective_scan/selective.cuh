/* selective.cuh - the functions of the selective scan, for one element. Whoever calls fast_exp2 for
   a state and step multiplies with log2 e before: once a channel and state, in A. */
#ifndef SELECTIVE_CUH
#define SELECTIVE_CUH

#include <fast_math.h>

#define LOG2_E 1.4426950408889634f

/* log(1 + exp(v)) = max(v, 0) + log(1 + e) with e = exp(-|v|), so that nothing overflows, and a small result keeps its
   digits. log(1 + e) = 2 atanh(s) with s = e / (2 + e): an odd polynomial, whose coefficients are those of the
   interpolation of atanh(sqrt(x)) / sqrt(x) at the five Chebyshev nodes of [0, 1/9], within 5e-9, relatively. It is
   written in 2 s, which takes an addition less: so x is 4 s^2, and the coefficients are divided by powers of 4. */
static __device__ __forceinline__ float softplus(float v)
{
    const float e = fast_exp2(-LOG2_E * fabsf(v)), s2 = e * fast_rcp(fmaf(0.5f, e, 1.0f)), x = s2 * s2;
    const float higher =
        fmaf(x, fmaf(x, fmaf(x, 0.140788892f / 256, 0.139825789f / 64), 0.200122976f / 16), 0.333331608f / 4);
    return fmaf(s2, fmaf(x, higher, 1.0f), fmaxf(v, 0.0f));
}

/* The step of v = delta + delta_bias. */
static __device__ __forceinline__ float step_of(float v, bool delta_softplus)
{
    const float soft = softplus(v); /* computed in any case: a branch would cost more */
    return delta_softplus ? soft : v;
}

/* 1 / (1 + exp(-v)): the derivative of softplus. */
static __device__ __forceinline__ float sigmoid(float v)
{
    return fast_rcp(1.0f + fast_exp2(-v * LOG2_E));
}

/* v sigmoid(v). */
static __device__ __forceinline__ float silu(float v)
{
    return v * sigmoid(v);
}

/* The derivative of silu. */
static __device__ __forceinline__ float silu_slope(float v)
{
    const float s = sigmoid(v);
    return s * (1.0f + v * (1.0f - s));
}

/* The sum over the lanes of a warp, in every lane. */
static __device__ __forceinline__ float warp_sum(float value)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFu, value, d);
    return value;
}

#endif
