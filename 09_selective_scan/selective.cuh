/* selective.cuh - the functions of the selective scan, for one element. Whoever calls fast_exp2 for
   a state and step multiplies with log2 e before: once a channel and state, in A. */
#ifndef SELECTIVE_CUH
#define SELECTIVE_CUH

#include <fast_math.h>

#define LOG2_E 1.4426950408889634f

/* log(1 + exp(v)). From 20 on it is v to within float32. */
static __device__ __forceinline__ float softplus(float v)
{
    return v > 20.0f ? v : log1pf(fast_exp2(v * LOG2_E));
}

/* The step of v = delta + delta_bias. */
static __device__ __forceinline__ float step_of(float v, bool delta_softplus)
{
    return delta_softplus ? softplus(v) : v;
}

/* 1 / (1 + exp(-v)): the derivative of softplus. */
static __device__ __forceinline__ float sigmoid(float v)
{
    return 1.0f / (1.0f + fast_exp2(-v * LOG2_E));
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
