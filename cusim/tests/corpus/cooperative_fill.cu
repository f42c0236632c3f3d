// right
// SPDX-License-Identifier: MIT
// As many blocks as the runtime says fit at once, each of which waits for all others: what the simulator learns of the
// kernel while its first block runs (its shared memory) must not take the room of the last ones.
#include <cooperative_groups.h>
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ float once[1024];
    once[threadIdx.x] = x[threadIdx.x];
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0)
        x[threadIdx.x] = 2 * once[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    void *arguments[] = {&x};
    const size_t dynamic = 18432;
    int fit = 0, multiprocessors = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, N, dynamic);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    cudaLaunchCooperativeKernel((const void *)kernel, dim3(fit * multiprocessors), dim3(N), arguments, dynamic, NULL);
    return finish(x, 2, 1);
}
