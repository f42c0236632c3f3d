// refused by both: device function more calls twice, a function of the host. Write __device__ before it
// SPDX-License-Identifier: MIT
#include "corpus.h"

template <int factor>
static float twice(float x)
{
    return factor * x;
}

__device__ static float more(float x)
{
    return twice<2>(x) + 1; // HERE
}

__global__ void kernel(float *x)
{
    x[threadIdx.x] = more(x[threadIdx.x]);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
