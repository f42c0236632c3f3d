// right
// SPDX-License-Identifier: MIT
// All threads of a block come to a fence, then to a barrier, and one of them tells the others of all: fences are
// sequentially consistent, so what any of them has written before comes first.
#include "corpus.h"

__device__ unsigned arrived;

__global__ void kernel(const float *x, float *partial, float *out)
{
    __shared__ bool last;
    const int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;

    partial[i] = 2 * x[i];
    __threadfence();
    __syncthreads();
    if (thread == 0) {
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    for (int k = thread; last && k < N; k += blockDim.x)
        out[k] = partial[N - 1 - k];
}

int main(void)
{
    float *x = numbers(), *partial, *out;

    cudaMalloc(&partial, N * sizeof(float));
    cudaMalloc(&out, N * sizeof(float));
    kernel<<<4, N / 4>>>(x, partial, out);
    return finish(out, -2, 2 * (N - 1));
}
