// right
// SPDX-License-Identifier: MIT
// The compiler's own atomic functions, with orders and scopes; atomicAdd of two and four numbers.
#include "corpus.h"

__global__ void kernel(float *x, int *counts, unsigned long long *flag, float4 *sums)
{
    int mine = (int)threadIdx.x, seen = -1;
    __nv_atomic_add(&counts[0], 1, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_max(&counts[1], mine, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    while (!__nv_atomic_compare_exchange_n(&counts[2], &seen, seen + 2, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED,
                                           __NV_THREAD_SCOPE_DEVICE))
        ;
#if defined(CUSIM) || __CUDA_ARCH__ >= 900
    atomicAdd(sums, make_float4(1, 2, 3, 4));
    atomicAdd((float2 *)&sums[1], make_float2(1, 2));
#endif
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        x[0] = 0.5f;
        __nv_atomic_store_n(flag, 7, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 7)
            ;
        x[0] -= 0.5f;
        const int last = __nv_atomic_exchange_n(&counts[3], 5, __NV_ATOMIC_SEQ_CST);
        __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_store(&counts[4], &last, __NV_ATOMIC_RELAXED);
    }
}

__global__ void add(float *x, const int *counts, const float4 *sums)
{
    const bool right = counts[0] == 2 * N && counts[1] == N - 1 && counts[2] == 4 * N && counts[3] == 5 &&
                       counts[4] == 0 && sums[0].w == 8 * N && sums[1].y == 4 * N;
    x[threadIdx.x] += (float)right;
}

int main(void)
{
    float *x = numbers();
    int *counts;
    float4 *sums;
    unsigned long long *flag;
    cudaMalloc(&counts, 5 * sizeof(*counts));
    cudaMalloc(&sums, 2 * sizeof(*sums));
    cudaMalloc(&flag, sizeof(*flag));
    cudaMemset(counts, 0, 5 * sizeof(*counts));
    cudaMemset(sums, 0, 2 * sizeof(*sums));
    cudaMemset(flag, 0, sizeof(*flag));
    kernel<<<2, N>>>(x, counts, flag, sums);
    add<<<1, N>>>(x, counts, sums);
    return finish(x, 1, 1);
}
