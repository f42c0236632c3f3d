// refused here: kernel kernel has PTX in it, of which the simulator knows nothing. Write that in C
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    unsigned lane;

    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane)); // HERE
    x[threadIdx.x] = 2 * x[threadIdx.x] + (float)(lane == threadIdx.x % 32);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
