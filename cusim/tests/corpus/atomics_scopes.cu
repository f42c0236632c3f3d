// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ int sum, most;
    __shared__ unsigned long long bits, taken;
    __shared__ unsigned short word;

    if (threadIdx.x == 0) {
        sum = most = 0;
        bits = taken = 0;
        word = 0;
    }
    __syncthreads();
    atomicAdd_block(&sum, 1);
    atomicMax_block(&most, (int)threadIdx.x);
    atomicOr_system(&bits, 1ull << threadIdx.x);
    if (atomicCAS_system(&taken, 0ull, 1ull) == 0)
        atomicExch_block(&taken, 2ull);
    for (unsigned short seen = 0, old; (old = atomicCAS(&word, seen, (unsigned short)(seen + 1))) != seen;)
        seen = old;
    __syncthreads();
    const bool good = sum == N && most == N - 1 && bits == ~0ull && taken == 2 && word == N;
    x[threadIdx.x] = 2 * x[threadIdx.x] + (float)good;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
