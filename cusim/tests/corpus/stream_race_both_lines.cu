// stopped: corpus/stream_race_both_lines.cu:22 has read at {there} in the stream made at
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void sum(const float *x, float *y)
{
    y[threadIdx.x] = x[threadIdx.x] + x[N - 1 - threadIdx.x]; // THERE
}

__global__ void clear(float *x)
{
    x[threadIdx.x] = 0; // HERE
}

int main(void)
{
    float *x = numbers(), *y = numbers();
    cudaStream_t a, b;

    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreate(&b);
    sum<<<1, N, 0, a>>>(x, y);
    cudaStreamQuery(a);
    clear<<<1, N, 0, b>>>(x);
    cudaDeviceSynchronize();
    return finish(y, 0, N - 1);
}
