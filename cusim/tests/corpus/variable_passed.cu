// stopped: the kernel gets the host's address of table[0], a variable of the device, which on a GPU has another one.
// SPDX-License-Identifier: MIT
#include "corpus.h"

__constant__ float table[4] = {1, 2, 3, 4};

__global__ void add(float *x, const float *offsets)
{
    x[threadIdx.x] += offsets[threadIdx.x % 4];
}

int main(void)
{
    float *x = numbers();
    add<<<1, N>>>(x, table); // HERE
    return finish(x, 1, 0);
}
