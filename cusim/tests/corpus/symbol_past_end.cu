// stopped: cudaMemcpyToSymbol returned cudaErrorInvalidValue, and nobody looked at it: it reaches past the end of the
// SPDX-License-Identifier: MIT
#include "corpus.h"

__constant__ float factors[2];

__global__ void scale(float *x)
{
    x[threadIdx.x] *= factors[threadIdx.x % 2];
}

int main(void)
{
    const float values[4] = {2, 2, 2, 2};
    float *x = numbers();

    cudaMemcpyToSymbol(factors, values, sizeof(values)); // HERE
    scale<<<1, N>>>(x);
    return finish(x, 0, 0);
}
