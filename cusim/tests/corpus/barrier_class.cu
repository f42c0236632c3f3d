// right
// SPDX-License-Identifier: MIT
#include <cuda/barrier>
#include "corpus.h"

typedef cuda::barrier<cuda::thread_scope_block> barrier;

/* Threads arrive, do something else, and wait; half of them stop later; one phase has copies. */
__global__ void kernel(float *x)
{
    __shared__ barrier all[2];
    __shared__ __align__(16) float first[N], second[N];
    const int t = threadIdx.x;

    if (t == 0) {
        init(&all[0], N);
        init(&all[1], blockDim.x);
    }
    __syncthreads();
    first[t] = (float)t;
    barrier::arrival_token token = all[0].arrive();
    const float own = x[t];
    all[0].wait(static_cast<barrier::arrival_token &&>(token));
    const float others = first[N - 1 - t];
    cuda::memcpy_async(second + t, x + t, sizeof(float), all[1]);
    all[1].arrive_and_wait();
    const float copied = second[(t + 1) % N];
    if (t >= N / 2) {
        all[0].arrive_and_drop();
    } else {
        all[0].arrive_and_wait();
        first[t] = 5;
        all[0].arrive_and_wait();
    }
    const bool good =
        others == (float)(N - 1 - t) && copied == (float)((t + 1) % N) && (t >= N / 2 || first[N / 2 - 1 - t] == 5);
    all[1].arrive_and_wait();
    x[t] = 2 * own + (float)good;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
