// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

typedef float (*change)(float);

__device__ float twice(float a)
{
    return 2 * a;
}
__device__ change on_device = twice;

__global__ void each(float *x, change f)
{
    x[threadIdx.x] = f != NULL ? f(x[threadIdx.x]) : x[threadIdx.x];
}

int main(void)
{
    float *x = numbers();
    change f;

    cudaMemcpyFromSymbol(&f, on_device, sizeof(f));
    each<<<1, N>>>(x, f);
    each<<<1, N>>>(x, NULL);
    return finish(x, 2, 0);
}
