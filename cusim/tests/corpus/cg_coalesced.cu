// right
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

namespace cg = cooperative_groups;

/* Those that come together take their numbers by one atomicAdd. */
__device__ static int number(int *count)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;

    if (active.thread_rank() == 0)
        first = atomicAdd(count, (int)active.size());
    return active.shfl(first, 0) + (int)active.thread_rank();
}

__global__ void kernel(float *x)
{
    __shared__ int count, taken[N];
    const int t = threadIdx.x;

    if (t == 0)
        count = 0;
    taken[t] = 0;
    __syncthreads();
    if (t % 3 == 0)
        atomicAdd(&taken[number(&count)], 1);
    __syncwarp();
    unsigned together;
    if (t % 32 < 12)
        together = __activemask();
    else
        together = __activemask() & 0xfffff000;
    __syncthreads();
    const bool all = count == 22 && taken[t] == (t < 22) && together == (t % 32 < 12 ? 0xfff : 0xfffff000);
    x[t] = 2 * x[t] + (float)all;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
