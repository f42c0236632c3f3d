// right
// SPDX-License-Identifier: MIT
#include <cuda/atomic>
#include "corpus.h"

/* The last thread to come finds what all have written before. */
__global__ void kernel(float *x)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> come, most;
    __shared__ float all[N];
    const int t = (int)threadIdx.x;

    if (t == 0) {
        come.store(0, cuda::memory_order_relaxed);
        most = -1;
    }
    __syncthreads();
    all[t] = x[t];
    most.fetch_max(t);
    if (come.fetch_add(1, cuda::memory_order_acq_rel) == N - 1)
        for (int i = 0; i < N; i++)
            x[i] = 2 * all[i] + (float)(most.load() == N - 1);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
