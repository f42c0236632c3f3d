// right
// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>
#include "corpus.h"

__global__ void kernel(float *x, __nv_bfloat16 *h)
{
    h[threadIdx.x] = __float2bfloat16(x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x % 8 == 0) { /* eight at once, two in a word */
        uint4 words = *(const uint4 *)(h + threadIdx.x);
        __nv_bfloat162 *pairs = (__nv_bfloat162 *)&words;
        for (int i = 0; i < 4; i++) {
            const float2 f = __bfloat1622float2(pairs[i]);
            pairs[i] = __floats2bfloat162_rn(__low2float(pairs[i]) + f.x, f.y + __high2float(pairs[i]));
        }
        *(uint4 *)(h + threadIdx.x) = words;
    }
    __syncthreads();
    const __nv_bfloat162 pair = ((const __nv_bfloat162 *)h)[threadIdx.x / 2], one = __bfloat162bfloat162(1.0f);
    x[threadIdx.x] = __bfloat162float(threadIdx.x % 2 == 0 ? pair.x : pair.y) + __bfloat162float(one.y);
}

int main(void)
{
    float *x = numbers();
    __nv_bfloat16 *h;
    cudaMalloc(&h, N * sizeof(*h));
    kernel<<<1, N>>>(x, h);
    return finish(x, 2, 1);
}
