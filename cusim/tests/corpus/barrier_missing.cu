// stopped: phase 0 of the barrier initialised at {there} lacks 1 of 64 arrivals. Let as many threads arrive
// SPDX-License-Identifier: MIT
#include <cuda/barrier>
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> all;

    if (threadIdx.x == 0)
        init(&all, N); // THERE
    __syncthreads();
    if (threadIdx.x == 5)
        return;
    all.arrive_and_wait(); // HERE
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
