// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__host__ __device__ static float twice(float x)
{
    return 2 * x;
}

__global__ void kernel(float *x)
{
    x[threadIdx.x] = twice(x[threadIdx.x]) + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    if (twice(1) != 2)
        return 1;
    return finish(x, 2, 1);
}
