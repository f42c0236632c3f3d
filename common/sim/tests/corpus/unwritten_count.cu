// stopped: the 4-byte shared array count declared at {there}, which nothing has written in this block. Let one
// SPDX-License-Identifier: MIT
// thread write it, then call __syncthreads()
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ int count; // THERE

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
