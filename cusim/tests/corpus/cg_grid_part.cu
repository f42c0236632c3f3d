// stopped: 32 of the 64 threads of the grid have come to it, and the other threads have ended
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

__global__ void kernel(float *x)
{
    x[threadIdx.x + blockIdx.x * blockDim.x] = 1;
    if (blockIdx.x == 0)
        cooperative_groups::this_grid().sync(); // HERE
}

int main(void)
{
    float *x = numbers();
    void *arguments[] = {&x};
    cudaLaunchCooperativeKernel((void *)kernel, dim3(2), dim3(N / 2), arguments);
    return finish(x, 2, 1);
}
