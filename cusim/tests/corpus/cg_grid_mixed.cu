// stopped: 63 of the 64 threads of the grid have come to it, while thread (0,0,0) of block (1,0,0) waits at
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

__global__ void kernel(float *x)
{
    x[threadIdx.x + blockIdx.x * blockDim.x] = 1;
    if (blockIdx.x == 1 && threadIdx.x == 0)
        __syncthreads();                    // THERE
    cooperative_groups::this_grid().sync(); // HERE
}

int main(void)
{
    float *x = numbers();
    void *arguments[] = {&x};
    cudaLaunchCooperativeKernel((void *)kernel, dim3(2), dim3(N / 2), arguments);
    return finish(x, 2, 1);
}
