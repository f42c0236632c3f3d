// stopped: which thread (0,0,0) has read at {there}, and nothing orders the two
// SPDX-License-Identifier: MIT
#include <cuda/barrier>
#include "corpus.h"

typedef cuda::barrier<cuda::thread_scope_block> barrier;

__global__ void kernel(float *x)
{
    __shared__ barrier both;
    __shared__ float all[N];
    const int t = threadIdx.x;

    if (t == 0)
        init(&both, N);
    __syncthreads();
    all[t] = x[t]; // HERE
    barrier::arrival_token token = both.arrive();
    if (t == 1)
        x[t] = 2 * all[t] + 1;
    else
        x[t] = 2 * all[t ^ 1] + 1; // THERE
    both.wait(static_cast<barrier::arrival_token &&>(token));
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
