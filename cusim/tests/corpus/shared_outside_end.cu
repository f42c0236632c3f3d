// stopped: reads tile[64], past the end (the last is tile[63], declared at {there})
// SPDX-License-Identifier: MIT
#include "corpus.h"

__shared__ float tile[N]; // THERE

__global__ void kernel(float *x)
{
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const volatile float *const row = tile;
    x[threadIdx.x] = row[threadIdx.x + 1]; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
