// refused by both: a __shared__ variable has no initial value on a GPU. Write to it in one thread
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ int count = 0; // HERE

    atomicAdd(&count, 1);
    x[threadIdx.x] = 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
