// stopped: race: in the stream made at {there} it reads byte 0
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2; // HERE
}

int main(void)
{
    float *x = numbers();
    cudaStream_t a, b;

    cudaStreamCreate(&a); // THERE
    cudaStreamCreate(&b);
    twice<<<1, N, 0, a>>>(x);
    twice<<<1, N, 0, b>>>(x);
    cudaDeviceSynchronize();
    return finish(x, 4, 0);
}
