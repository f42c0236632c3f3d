// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ int count;
    __shared__ unsigned bits[2];

    if (threadIdx.x == 0)
        count = 0;
    if (threadIdx.x < 2)
        bits[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    atomicOr(&bits[threadIdx.x / 32], 1u << threadIdx.x % 32);
    __syncthreads();
    x[threadIdx.x] = (float)__popc(bits[0]) / 16 * x[threadIdx.x] + (float)count / N;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
