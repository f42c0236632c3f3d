// stopped: race: reads hits, which thread (0,0,0) has written at tests/corpus/variable_race.cu:10
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ int hits;

__global__ void count(const float *x)
{
    if (x[threadIdx.x] >= 0)
        hits++; // HERE
}

int main(void)
{
    float *x = numbers();
    count<<<1, N>>>(x);
    return finish(x, 1, 0);
}
