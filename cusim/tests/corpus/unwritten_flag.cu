// stopped: reads found, which no thread of this block has written before. Let one write it, then call __syncthreads()
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ bool found;

    if (x[threadIdx.x] < 0)
        found = true;
    __syncthreads();
    x[threadIdx.x] = found ? 1 : 0; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
