/* SPDX-License-Identifier: MIT */
/* activations.cuh - softplus, sigmoid and silu, and the derivative of silu, for the kernels of chapter 09. Whoever
   calls fast_exp2 for a state and step multiplies with log2 e before: once for each channel and state, in A. */
#ifndef ACTIVATIONS_CUH
#define ACTIVATIONS_CUH

#include "../../common/cuda/fast_math.h"

#define LOG2_E 1.4426950408889634f

/* log(1 + exp(v)) = max(v, 0) + log(1 + e) with e = exp(-|v|), so that nothing overflows, and a small result keeps its
   digits. log(1 + e) is e times a polynomial, the interpolation of log(1 + e) / e at the nine Chebyshev nodes of
   [0, 1], within 3.5e-8, relatively: the exponential alone keeps a special function unit busy. */
static __device__ __forceinline__ float softplus(float v)
{
    const float e = fast_exp2(-LOG2_E * fabsf(v));
    float p = 0.00512610214f;
    p = fmaf(p, e, -0.0290740647f);
    p = fmaf(p, e, 0.0775160867f);
    p = fmaf(p, e, -0.136022478f);
    p = fmaf(p, e, 0.190768807f);
    p = fmaf(p, e, -0.24835399f);
    p = fmaf(p, e, 0.333181217f);
    p = fmaf(p, e, -0.49999445f);
    p = fmaf(p, e, 0.999999966f);
    return fmaf(p, e, fmaxf(v, 0.0f));
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

#endif
