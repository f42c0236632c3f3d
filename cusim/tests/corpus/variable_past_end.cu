// stopped: writes table[3][0], past the end (the last is table[2][3])
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ float table[3][4], neighbour[64];

__device__ void fill(float *to, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = 1; // HERE
}

__global__ void kernel(float *x)
{
    if (threadIdx.x == 0)
        fill(&table[0][0], 13);
    x[threadIdx.x] += neighbour[threadIdx.x];
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 1, 0);
}
