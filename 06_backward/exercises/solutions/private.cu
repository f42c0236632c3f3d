/* SPDX-License-Identifier: MIT */
/* 06.6  Private copies */
#include <cuda_runtime.h>

enum { NUM_CHANNELS = 64, THREADS = 256, BLOCK_ELEMS = 4096 };

static __global__ void clear(float *sums)
{
    sums[threadIdx.x] = 0.0f;
}

static __global__ void by_channel(int count, const int *__restrict__ channels, const float *__restrict__ values,
                                  float *sums)
{
    const int begin = blockIdx.x * BLOCK_ELEMS, end = min(begin + BLOCK_ELEMS, count);
    __shared__ float own[NUM_CHANNELS];
    if (threadIdx.x < NUM_CHANNELS)
        own[threadIdx.x] = 0.0f;
    __syncthreads();
    for (int i = begin + threadIdx.x; i < end; i += THREADS)
        atomicAdd(&own[channels[i]], values[i]);
    __syncthreads();
    if (threadIdx.x < NUM_CHANNELS)
        atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}

extern "C" cudaError_t launch_by_channel(int count, const int *channels, const float *values, float *sums)
{
    const int blocks = (count + BLOCK_ELEMS - 1) / BLOCK_ELEMS;
    clear<<<1, NUM_CHANNELS>>>(sums);
    if (blocks > 0)
        by_channel<<<blocks, THREADS>>>(count, channels, values, sums);
    return cudaGetLastError();
}
