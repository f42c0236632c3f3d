// refused by both: kernel twice is called like a function. Launch it: twice<<<blocks, threads>>>(...)
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

int main(void)
{
    float *x = numbers();
    twice(x); // HERE
    return finish(x, 2, 1);
}
