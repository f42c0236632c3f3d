/* SPDX-License-Identifier: MIT */
/* judge_baseline.cu - the kernel that times are compared with: adding two arrays element by element. See judge.h. */
#include <cuda_runtime.h>

#include "judge.h"

static __global__ void add(size_t n, const float *a, const float *b, float *sum)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= n) {
        const float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i);
        *(float4 *)(sum + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else {
        for (size_t j = i; j < n; j++)
            sum[j] = a[j] + b[j];
    }
}

/* Reads all, so that nothing else is in the cache and nothing waits to be written back. The sum is never 1, but the
   compiler cannot know. */
static __global__ void sweep(size_t n, const float *buffer)
{
    float sum = 0.0f;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += buffer[i];
    if (sum == 1.0f)
        __trap();
}

extern "C" cudaError_t judge_add(size_t n, const float *a, const float *b, float *sum)
{
    add<<<(unsigned)((n + 1023) / 1024), 256>>>(n, a, b, sum);
    return cudaGetLastError();
}

extern "C" cudaError_t judge_sweep(size_t n, const float *buffer)
{
    sweep<<<1024, 256>>>(n, buffer);
    return cudaGetLastError();
}
