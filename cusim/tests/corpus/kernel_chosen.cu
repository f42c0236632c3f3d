// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

__global__ void nothing(float *)
{
}

int main(void)
{
    float *x = numbers();
    (x != NULL ? twice : nothing)<<<1, N>>>(x);
    return finish(x, 2, 1);
}
