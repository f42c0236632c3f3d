// refused by both: kernel kernel calls rand, a function of the host's C library
// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include "corpus.h"

__global__ void kernel(float *x)
{
    x[threadIdx.x] = (float)rand(); // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
