// stopped: race: writes tile[1], which thread (0,0,0) has read at tests/corpus/part_race_half.cu:14, and nothing
// SPDX-License-Identifier: MIT
#include "corpus.h"

#include <cuda_fp16.h>

__global__ void kernel(float *x)
{
    __shared__ __half tile[N];

    for (int round = 0; round < 2; round++) {
        tile[threadIdx.x] = __float2half(x[threadIdx.x]); // HERE
        __syncthreads();
        x[threadIdx.x] = __half2float(tile[(threadIdx.x + 1) % N]);
    }
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 1, 2);
}
