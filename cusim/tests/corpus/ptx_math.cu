// right
// SPDX-License-Identifier: MIT
#ifdef CUSIM
#include <sim_fast_math.h>
#else /* what stands here in a program for a GPU */
static __device__ float fast_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static __device__ float fast_log2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static __device__ float fast_rcp(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif
#include "corpus.h"

/* Whether all are within their errors, beside double precision, and at the edges what the header says. */
static __device__ bool are_right(float x)
{
    const double exact = exp2((double)x), logarithm = log2((double)x + 1.0);
    const double error = fabs(fast_exp2(x) - exact), other = fabs(fast_exp2(-x) - 1.0 / exact);
    const float inverse = fast_rcp(x + 1.0f), edge = INFINITY;

    return error <= exact * 0x1p-22 && other <= 0x1p-22 / exact &&
           fabs(fast_log2(x + 1.0f) - logarithm) <= 0x1p-22 * fmax(logarithm, 1.0) &&
           fabs(inverse * ((double)x + 1.0) - 1.0) <= 0x1p-23 && //
           fast_exp2(-edge) == 0.0f && fast_exp2(edge) == edge && fast_exp2(128.0f) == edge &&
           fast_exp2(-126.0f) > 0.0f && fast_exp2(-127.0f) == 0.0f && isnan(fast_exp2(NAN)) &&
           fast_log2(0.0f) == -edge && fast_log2(0x1p-127f) == -edge && isnan(fast_log2(-1.0f)) &&
           fast_rcp(-0.0f) == -edge && fast_rcp(0x1p-127f) == edge && fast_rcp(0x1p127f) == 0.0f;
}

__global__ void kernel(float *x)
{
    const float before = x[threadIdx.x];
    x[threadIdx.x] = are_right(before * 1.7f) ? before : -1.0f;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 1, 0);
}
