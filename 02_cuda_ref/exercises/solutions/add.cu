/* SPDX-License-Identifier: MIT */
/* 02.1  A first kernel */
#include <cuda_runtime.h>

static __global__ void add(int n, const float *a, const float *b, float *sum)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

extern "C" cudaError_t launch_add(int n, const float *a, const float *b, float *sum)
{
    const int threads = 128;
    const int blocks = (n + threads - 1) / threads; /* rounded up */

    if (n == 0)
        return cudaSuccess; /* a launch of no blocks is an error */
    add<<<blocks, threads>>>(n, a, b, sum);
    return cudaGetLastError();
}
