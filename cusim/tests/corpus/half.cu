// right
// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>
#include "corpus.h"

__global__ void kernel(float *x, __half *h, __half2 *two)
{
    h[threadIdx.x] = __float2half(x[threadIdx.x]);
    two[threadIdx.x] = __floats2half2_rn(__half2float(h[threadIdx.x]), 1);
    const float2 f = make_float2(__low2float(two[threadIdx.x]), __half22float2(two[threadIdx.x]).y);
    x[threadIdx.x] = __half2float(__hadd(h[threadIdx.x], h[threadIdx.x])) + f.y;
}

int main(void)
{
    float *x = numbers();
    __half *h;
    __half2 *two;
    cudaMalloc(&h, N * sizeof(*h));
    cudaMalloc(&two, N * sizeof(*two));
    kernel<<<1, N>>>(x, h, two);
    return finish(x, 2, 1);
}
