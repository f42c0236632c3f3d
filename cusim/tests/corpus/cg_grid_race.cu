// stopped: of block (0,0,0) has read at {there}
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

__global__ void kernel(float *x)
{
    const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;

    x[i] = 1; // HERE
    cooperative_groups::this_thread_block().sync();
    const float others = x[N - 1 - i]; // THERE
    cooperative_groups::this_grid().sync();
    x[i] = others;
}

int main(void)
{
    float *x = numbers();
    void *arguments[] = {&x};
    cudaLaunchCooperativeKernel((void *)kernel, dim3(2), dim3(N / 2), arguments);
    return finish(x, 2, 1);
}
