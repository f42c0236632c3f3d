/* selective.cuh - the functions of the selective scan, for one element.

   The exponential of a state and step is one instruction, ex2.approx.ftz: 2^x with a relative error of 2^-22, 0 where
   the result is below 2^-126 (PTX ISA, "ex2"). CUDA C has no word for it, so it is PTX here. Whoever calls it multiplies
   with log2 e before: once a channel and state, in A. */
#ifndef SELECTIVE_CUH
#define SELECTIVE_CUH

#define LOG2_E 1.4426950408889634f

static __device__ __forceinline__ float ex2(float x)
{
#ifdef LINREC_SIM
    const float power = exp2f(x);
    return power < 0x1p-126f ? 0.0f : power;
#else
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
#endif
}

/* log(1 + exp(v)). From 20 on it is v to within float32. */
static __device__ __forceinline__ float softplus(float v)
{
    return v > 20.0f ? v : log1pf(ex2(v * LOG2_E));
}

/* The step of v = delta + delta_bias. */
static __device__ __forceinline__ float step_of(float v, bool delta_softplus)
{
    return delta_softplus ? softplus(v) : v;
}

/* 1 / (1 + exp(-v)): the derivative of softplus. */
static __device__ __forceinline__ float sigmoid(float v)
{
    return 1.0f / (1.0f + ex2(-v * LOG2_E));
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
