// stopped: of block (2,0,0) has written at {there}. Blocks run in any order, or at once. The atomic at
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ unsigned arrived;

__global__ void kernel(const float *x, float *partial, float *out)
{
    __shared__ bool last;
    const int thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;

    partial[i] = 2 * x[i]; // THERE
    __syncthreads();
    if (thread == 0) {
        last = atomicAdd(&arrived, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    for (int k = thread; last && k < N; k += blockDim.x)
        out[k] = partial[N - 1 - k]; // HERE
}

int main(void)
{
    float *x = numbers(), *partial, *out;

    cudaMalloc(&partial, N * sizeof(float));
    cudaMalloc(&out, N * sizeof(float));
    kernel<<<4, N / 4>>>(x, partial, out);
    return finish(out, -2, 2 * (N - 1));
}
