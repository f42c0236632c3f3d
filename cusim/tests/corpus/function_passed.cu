// stopped: the kernel gets the host's address of a function, which on a GPU has another one
// SPDX-License-Identifier: MIT
#include "corpus.h"

typedef float (*change)(float);

__host__ __device__ static float twice(float a)
{
    return 2 * a;
}

__global__ void each(float *x, change f)
{
    x[threadIdx.x] = f(x[threadIdx.x]);
}

int main(void)
{
    float *x = numbers();

    each<<<1, N>>>(x, twice); // HERE
    return finish(x, 2, 0);
}
