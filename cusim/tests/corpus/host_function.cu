// refused by both: kernel kernel calls twice, a function of the host. Write __device__ before it
// SPDX-License-Identifier: MIT
#include "corpus.h"

static float twice(float x)
{
    return 2 * x;
}

__global__ void kernel(float *x)
{
    x[threadIdx.x] = twice(x[threadIdx.x]) + 1; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
