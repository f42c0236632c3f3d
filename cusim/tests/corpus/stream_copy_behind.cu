// stopped: reads byte 0 of the 256-byte allocation made at {there}, which nothing has written
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2; // HERE
}

int main(void)
{
    float *x, *pinned;
    cudaStream_t a;

    cudaMalloc(&x, N * sizeof(*x)); // THERE
    cudaMallocHost(&pinned, N * sizeof(*x));
    cudaStreamCreate(&a);
    twice<<<1, N, 0, a>>>(x);
    cudaMemcpyAsync(x, pinned, N * sizeof(*x), cudaMemcpyHostToDevice, a);
    cudaStreamSynchronize(a);
    return finish(x, 2, 0);
}
