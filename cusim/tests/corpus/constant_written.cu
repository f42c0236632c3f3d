// stopped: writes table[3], which is __constant__: a kernel can only read it. Declare it __device__
// SPDX-License-Identifier: MIT
#include "corpus.h"

__constant__ float table[4];

__global__ void add(float *x)
{
    if (threadIdx.x == 3)
        table[3] = x[3]; // HERE
}

int main(void)
{
    float *x = numbers();
    add<<<1, N>>>(x);
    return finish(x, 1, 0);
}
