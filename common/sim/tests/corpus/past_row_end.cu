// stopped: nothing orders the two. Compare the index with the end of the row: let each thread write bytes that no other
// SPDX-License-Identifier: MIT
// one touches
#include "corpus.h"

__global__ void kernel(float *x)
{
    for (int i = 0; i <= 8; i++)
        x[8 * threadIdx.x + i] = 1; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, 2>>>(x);
    return finish(x, 2, 1);
}
