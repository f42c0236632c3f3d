// stopped: it writes byte 2 of the 256-byte allocation made at tests/corpus/corpus.h:16, which the kernel launched at
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void fill(short *x, int first)
{
    x[first + threadIdx.x] = 1; // HERE
}

int main(void)
{
    float *x = numbers();
    cudaStream_t a, b;

    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    fill<<<1, N, 0, a>>>((short *)x, 0);
    fill<<<1, N, 0, b>>>((short *)x, 1);
    cudaDeviceSynchronize();
    return finish(x, 1, 0);
}
