// stopped: reads total, a variable of the device, of which host code sees another one on a GPU. Use
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ int total;

__global__ void add(void)
{
    atomicAdd(&total, 1);
}

int main(void)
{
    float *x = numbers();
    add<<<1, N>>>();
    cudaDeviceSynchronize();
    printf("%d\n", total); // HERE
    return finish(x, 1, 0);
}
