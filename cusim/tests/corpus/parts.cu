// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

#include <cuda_fp16.h>

// Neighbours in a word of 4 bytes are each thread's own: halves, bytes, a half2 beside them, a flag of one byte.
__global__ void kernel(float *x, volatile char *flags)
{
    __shared__ __half tile[N];
    __shared__ unsigned char counts[N][3];
    __shared__ bool any, odd[N];
    __shared__ short mixed[N];
    const int i = threadIdx.x;

    tile[i] = __float2half(1);
    odd[i] = i % 2;
    mixed[i] = (short)i;
    if (i == 0)
        any = false;
    for (int j = 0; j < 12; j++)
        counts[i][j % 3] = (unsigned char)(j / 3);
    __syncthreads();
    const __half2 two = ((const __half2 *)tile)[i / 2];
    if (i == 3)
        any = true;
    __syncthreads();
    tile[N - 1 - i] = __low2half(two);
    ((unsigned char *)mixed)[2 * i] = 0; // bytes where there were halves
    if (i == 0) {
        x[0] = 7;
        __threadfence();
        flags[1] = 1;
    }
    if (i == 32) {
        while (flags[1] == 0) {
        }
        __threadfence();
        x[0] -= 7;
        flags[2] = 1;
    }
    __syncthreads();
    const float more = __half2float(tile[i]) + any + odd[N - 1 - i] + counts[N - 1 - i][1] + mixed[i] % 256;
    x[i] = x[i] + more - 5 + i % 2;
}

int main(void)
{
    float *x = numbers();
    char *flags;

    cudaMalloc(&flags, 4);
    cudaMemset(flags, 0, 4);
    kernel<<<1, N>>>(x, flags);
    return finish(x, 1, 1);
}
