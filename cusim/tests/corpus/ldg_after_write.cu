// stopped: by __ldg, which this launch writes at tests/corpus/ldg_after_write.cu:7
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x, float *between)
{
    between[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = __ldg(&between[N - 1 - threadIdx.x]); // HERE
}

int main(void)
{
    float *x = numbers(), *between = numbers();
    kernel<<<1, N>>>(x, between);
    return finish(x, -1, N - 1);
}
