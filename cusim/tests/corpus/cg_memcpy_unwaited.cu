// stopped: to which the copy of {there} is on its way. Wait for it first
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include "corpus.h"

namespace cg = cooperative_groups;

__global__ void kernel(float *x)
{
    __shared__ __align__(16) float all[N];
    cg::thread_block block = cg::this_thread_block();

    cg::memcpy_async(block, all, x, sizeof(all)); // THERE
    block.sync();
    x[threadIdx.x] = 2 * all[threadIdx.x] + 1; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
