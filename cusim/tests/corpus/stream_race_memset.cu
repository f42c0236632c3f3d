// stopped: which cudaMemset at {there} has written in the default stream, and nothing orders the two
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void add(float *x)
{
    x[threadIdx.x] += (float)threadIdx.x; // HERE
}

int main(void)
{
    float *x = numbers();
    cudaStream_t a;

    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaMemset(x, 0, N * sizeof(*x)); // THERE
    add<<<1, N, 0, a>>>(x);
    cudaStreamSynchronize(a);
    return finish(x, 1, 0);
}
