// refused by both: extern __shared__ s is an array of double here, and of float at
// SPDX-License-Identifier: MIT
#include "corpus.h"

template <typename T>
__global__ void kernel(float *x)
{
    extern __shared__ T s[]; // HERE

    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = 2 * s[threadIdx.x];
}

int main(void)
{
    float *x = numbers();
    kernel<float><<<1, N, N * sizeof(float)>>>(x);
    kernel<double><<<1, N, N * sizeof(double)>>>(x);
    return finish(x, 4, 0);
}
