// stopped: corpus/stream_flag_plain.cu:23 has written at {there}
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void fill(int *flag, float *x, float *shared)
{
    x[threadIdx.x] = 3 * (float)threadIdx.x;
    shared[threadIdx.x] = 1;
    __syncthreads();
    __threadfence_system();
    if (threadIdx.x == 0)
        *flag = 1; // THERE
}

int main(void)
{
    float *x = numbers(), *shared;
    int *flag;

    cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped);
    cudaHostAlloc((void **)&shared, N * sizeof(*shared), cudaHostAllocMapped);
    *flag = 0;
    fill<<<1, N>>>(flag, x, shared);
    if (*flag == 0) // HERE
        puts("not yet");
    shared[N - 1] += 1;
    cudaDeviceSynchronize();
    return finish(x, 3, 0) || shared[N - 1] != 2;
}
