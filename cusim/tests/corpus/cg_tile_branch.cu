// stopped: __syncwarp with mask 0x0000ffff waits for lane 8, which waits at __syncthreads at {there}
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

namespace cg = cooperative_groups;

__global__ void kernel(float *x)
{
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());

    if (tile.thread_rank() < 8)
        tile.sync(); // HERE
    __syncthreads(); // THERE
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
