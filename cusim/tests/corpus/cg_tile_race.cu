// stopped: which thread (0,0,0) has read at {there}, and nothing orders the two. Put __syncthreads() between them
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

namespace cg = cooperative_groups;

__global__ void kernel(float *x)
{
    __shared__ float all[N];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);

    all[threadIdx.x] = tile.shfl_down(x[threadIdx.x], 1); // HERE
    x[threadIdx.x] = all[threadIdx.x ^ 1];                // THERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
