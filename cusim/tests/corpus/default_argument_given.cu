// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void scale(float *x, float factor = 7, float plus = 1);

__global__ void scale(float *x, float factor, float plus)
{
    x[threadIdx.x] = factor * x[threadIdx.x] + plus;
}

int main(void)
{
    float *x = numbers();
    scale<<<dim3(1), dim3(N), 0>>>(x, 2);
    return finish(x, 2, 1);
}
