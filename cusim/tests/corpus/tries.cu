// refused by both: device function twice uses try. There are no exceptions on a GPU
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ static float twice(float x)
{
    try { // HERE
        return 2 * x;
    } catch (...) {
        return 0;
    }
}

__global__ void kernel(float *x)
{
    x[threadIdx.x] = twice(x[threadIdx.x]);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
