// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void fill(volatile int *flag, float *x, float *shared)
{
    x[threadIdx.x] = 3 * (float)threadIdx.x;
    shared[threadIdx.x] = 1;
    __syncthreads();
    __threadfence_system();
    if (threadIdx.x == 0)
        *flag = 1;
}

int main(void)
{
    float *x = numbers(), *shared;
    volatile int *flag;
    cudaStream_t stream;

    cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped);
    cudaHostAlloc((void **)&shared, N * sizeof(*shared), cudaHostAllocMapped);
    *flag = 0;
    cudaStreamCreate(&stream);
    fill<<<1, N, 0, stream>>>(flag, x, shared);
    while (*flag == 0)
        continue;
    shared[N - 1] += 1;
    cudaStreamSynchronize(stream);
    return finish(x, 3, 0) || shared[N - 1] != 2;
}
