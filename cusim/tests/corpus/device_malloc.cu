// refused here: kernel kernel uses malloc. The simulator has no memory to give to a kernel
// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "corpus.h"

__global__ void kernel(float *x)
{
    float *own = (float *)malloc(sizeof(float)); // HERE
    *own = x[threadIdx.x];
    x[threadIdx.x] = 2 * *own + 1;
    free(own);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
