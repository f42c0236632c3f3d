// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ struct {
        float number[N];
        int plus;
    } s;

    s.number[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 0)
        s.plus = 1;
    __syncthreads();
    x[threadIdx.x] = 2 * s.number[threadIdx.x] + (float)s.plus;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
