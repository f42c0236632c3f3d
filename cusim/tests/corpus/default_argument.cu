// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void scale(float *x, float factor = 2, float plus = 1)
{
    x[threadIdx.x] = factor * x[threadIdx.x] + plus;
}

int main(void)
{
    float *x = numbers();
    scale<<<1, N>>>(x);
    return finish(x, 2, 1);
}
