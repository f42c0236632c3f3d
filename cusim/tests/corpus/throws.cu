// refused by both: kernel kernel uses throw. There are no exceptions on a GPU
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    if (x == NULL)
        throw 1; // HERE
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
