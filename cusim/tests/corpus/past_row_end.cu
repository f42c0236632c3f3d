// stopped: nothing orders the two. Which elements are each thread's own? Let each write bytes that no other one
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    for (int i = 0; i <= 8; i++)
        x[8 * threadIdx.x + i] = (float)threadIdx.x; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, 2>>>(x);
    return finish(x, 2, 1);
}
