// stopped: race: reads counts[1].many, which thread (0,0,0) of block (0,0,0) has written at
// SPDX-License-Identifier: MIT
#include "corpus.h"

struct Count {
    int few, many;
};
static __device__ Count counts[2];

__global__ void count(void)
{
    if (threadIdx.x == 0)
        counts[1].many += 1; // HERE
}

int main(void)
{
    float *x = numbers();
    count<<<2, N>>>();
    return finish(x, 1, 0);
}
