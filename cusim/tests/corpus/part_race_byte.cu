// stopped: race: reads byte 5 of the 8-byte allocation made at tests/corpus/part_race_byte.cu:16, which thread
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void count(unsigned char *counts)
{
    if (threadIdx.x == 0)
        counts[5]++; // HERE
}

int main(void)
{
    float *x = numbers();
    unsigned char *counts;

    cudaMalloc(&counts, 8);
    cudaMemset(counts, 0, 8);
    count<<<2, N>>>(counts);
    return finish(x, 1, 0);
}
