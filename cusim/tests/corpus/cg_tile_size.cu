// stopped: tiled_partition into tiles of 24 threads. Take 1, 2, 4, 8, 16 or 32
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

namespace cg = cooperative_groups;

__global__ void kernel(float *x)
{
    cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 24); // HERE
    x[threadIdx.x] = (float)tile.size();
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
