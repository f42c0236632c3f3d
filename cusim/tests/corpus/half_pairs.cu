// right
// SPDX-License-Identifier: MIT
#include "corpus.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ static bool halves_are_right(float x)
{
    const __half2 a = __floats2half2_rn(x, x + 1), b = __half2half2(__float2half(2.0f));
    const __half2 c = __hfma2(a, b, __hneg2(b)), d = a * b + b;
    const __half2 larger = __hmax2(a, __float2half2_rn(8.0f)), mark = __hgt2(a, b);
    __half sum = __low2half(c);

    sum += __high2half(c);
    return __low2float(c) == 2 * x - 2 && __high2float(c) == 2 * x && __half22float2(d).x == 2 * x + 2 &&
           __half2float(sum) == 4 * x - 2 && __low2float(larger) == fmaxf(x, 8) && __low2float(mark) == (x > 2) &&
           __hbeq2(a, a) && __heq(a.x, __int2half_rn((int)x)) &&
           __half2int_rn(h2exp(__low2half2(__hsub2(a, a))).y) == 1;
}

__device__ static bool bfloats_are_right(float x)
{
    const __nv_bfloat162 a = __floats2bfloat162_rn(x, -x), b = __float2bfloat162_rn(2.0f);
    const __nv_bfloat162 c = __hfma2(a, b, b);
    __nv_bfloat162 d = __hmul2(a, b);

    d = __hadd2(d, b);
    return __low2float(c) == 2 * x + 2 && __high2float(c) == -2 * x + 2 && c == d &&
           __bfloat162float(__habs(a.y)) == x && __bfloat162int_rz(hsqrt(b.x)) == 1 &&
           __bfloat162float(__hmin(a.x, a.y)) == -x;
}

/* Additions of several threads, and a shuffle of 2 and of 4 bytes. */
__global__ void kernel(float *x)
{
    __shared__ __half2 pair;
    __shared__ __nv_bfloat16 single;
    const int t = threadIdx.x;

    if (t == 0) {
        pair = __float2half2_rn(0.0f);
        single = __float2bfloat16(0.0f);
    }
    __syncthreads();
    atomicAdd(&pair, __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(&single, __float2bfloat16(1.0f));
    __syncthreads();
    const __half other = __shfl_xor_sync(0xffffffff, __float2half((float)t), 1);
    const __half2 two = __shfl_sync(0xffffffff, __floats2half2_rn((float)t, 1.0f), 5);
    const bool good = halves_are_right((float)t) && bfloats_are_right((float)t) && __low2float(pair) == N &&
                      __high2float(pair) == 2 * N && __bfloat162float(single) == N &&
                      __half2float(other) == (float)(t ^ 1) && __low2float(two) == (float)(t / 32 * 32 + 5);
    x[t] = 2 * x[t] + (float)good;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
