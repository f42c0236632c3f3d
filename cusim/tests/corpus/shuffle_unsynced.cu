// refused by both: kernel kernel calls __shfl_down, which CUDA has no more
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    x[threadIdx.x] += __shfl_down(x[threadIdx.x], 1); // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
