// stopped: which cudaMemcpyAsync at {there} writes in the stream made at
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2; // HERE
}

int main(void)
{
    float *x, *pinned;
    cudaStream_t a, b;

    cudaMalloc(&x, N * sizeof(*x));
    cudaMallocHost(&pinned, N * sizeof(*x));
    for (int i = 0; i < N; i++)
        pinned[i] = (float)i;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaMemcpyAsync(x, pinned, N * sizeof(*x), cudaMemcpyHostToDevice, a); // THERE
    twice<<<1, N, 0, b>>>(x);
    cudaDeviceSynchronize();
    return finish(x, 2, 0);
}
