// stopped: which cudaMallocAsync at {there} makes in the stream made at
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void fill(float *x)
{
    x[threadIdx.x] = 1; // HERE
}

int main(void)
{
    float *x;
    cudaStream_t a, b;

    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaMallocAsync(&x, N * sizeof(*x), a); // THERE
    fill<<<1, N, 0, b>>>(x);
    cudaDeviceSynchronize();
    return finish(x, 0, 1);
}
