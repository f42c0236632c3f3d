// refused by both: kernel kernel uses factor, a variable of the host
// SPDX-License-Identifier: MIT
#include "corpus.h"

static float factor = 2;

__global__ void kernel(float *x)
{
    x[threadIdx.x] = factor * x[threadIdx.x] + 1; // HERE
}

int main(void)
{
    float *x = numbers();
    factor = 2;
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
