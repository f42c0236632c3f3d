// stopped: race: cudaFreeAsync in the stream made at {there} writes byte 0
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

int main(void)
{
    float *x = numbers();
    cudaStream_t a, b;

    cudaStreamCreate(&a);
    cudaStreamCreate(&b); // THERE
    twice<<<1, N, 0, a>>>(x);
    cudaStreamQuery(a);
    cudaFreeAsync(x, b); // HERE
    cudaDeviceSynchronize();
    return 0;
}
