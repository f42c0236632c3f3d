// stopped: reads byte 0 of the 4-byte allocation made at tests/corpus/unwritten_managed.cu:15, which nothing has
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void count(int *sum)
{
    atomicAdd(sum, 1); // HERE
}

int main(void)
{
    float *x = numbers();
    int *sum;

    cudaMallocManaged(&sum, sizeof(*sum));
    count<<<1, N>>>(sum);
    cudaDeviceSynchronize();
    return finish(x, 1, 0);
}
