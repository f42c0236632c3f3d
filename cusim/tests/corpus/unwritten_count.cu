// stopped: reads count, which no thread of this block has written before. Let one write it, then call __syncthreads()
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ int count;

    atomicAdd(&count, 1); // HERE
    __syncthreads();
    x[threadIdx.x] = (float)count;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
