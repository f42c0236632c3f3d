// stopped: barrier.arrive() with a barrier that is not initialised. Call init(&barrier, threads) in one thread
// SPDX-License-Identifier: MIT
#include <cuda/barrier>
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> all;

    all.arrive_and_wait(); // HERE
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
