// refused by both: kernel outer launches a kernel. Launch from host code only
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

__global__ void outer(float *x)
{
    twice<<<1, N>>>(x); // HERE
}

int main(void)
{
    float *x = numbers();
    outer<<<1, 1>>>(x);
    return finish(x, 2, 1);
}
