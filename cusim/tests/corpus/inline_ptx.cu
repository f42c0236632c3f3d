// refused here: kernel kernel has PTX in it, of which the simulator knows nothing. Write that in C
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    unsigned lane;

    asm volatile("bfind.u32 %0, %1;" : "=r"(lane) : "r"(threadIdx.x)); // HERE
    x[threadIdx.x] = 2 * x[threadIdx.x] + (float)(lane > 0);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
