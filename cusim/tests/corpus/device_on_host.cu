// refused by both: function main of the host calls twice, a function of the device. Write __host__ __device__ before
// SPDX-License-Identifier: MIT
// that
#include "corpus.h"

__device__ static float twice(float x)
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
    printf("%g\n", twice(1)); // HERE
    return finish(x, 2, 1);
}
