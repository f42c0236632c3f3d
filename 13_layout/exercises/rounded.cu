/* SPDX-License-Identifier: MIT */
/* 13.6  The type of the state

   Models keep their arrays in 16 bits: half the bytes. bf16 is the upper half of a float32: 8 bits of precision. From
   128 to 256 its numbers are 1 apart, and rounding moves a number by up to 1/256 of itself.

       float32   s eeeeeeee fffffffffffffffffffffff           x, c, y: (batch, seq_len, channels) in bf16,
       bf16      s eeeeeeee fffffff                           all of them positive numbers here

       y[0] = x[0],   y[t] = c[t] y[t-1] + x[t]               c[0] is never used: it may be NaN

   Whoever stores y in bf16 rounds it once, and that is allowed. But in the kernel below the rounded y is also the state
   that the next step begins with. So what is lost is lost for all later steps, and with c near 1 none of it is ever
   forgotten: the losses add up. Where y is 512 times x, x is lost as a whole, and y stands still.

   The judge allows what one rounding to bf16 and a walk in float32 may do, and no more:

       |y - right| <= (2^-8 + 2^-23 (2 seq_len + 16)) right

   Goal: right; 3.938 bytes loaded for an element and 2 stored, as now.

   Change what stands where it says "here". __bfloat162float and __float2bfloat16 convert. */
#include <cuda_bf16.h>
#include <cuda_runtime.h>

static __global__ void walk(int batch, int seq_len, int channels, const __nv_bfloat16 *__restrict__ x,
                            const __nv_bfloat16 *__restrict__ c, __nv_bfloat16 *__restrict__ y)
{
    const size_t number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= (size_t)batch * channels)
        return;
    const size_t first = number / channels * seq_len * channels + number % channels;

    /* here */
    __nv_bfloat16 state = x[first];
    y[first] = state;
    for (int t = 1; t < seq_len; t++) {
        const size_t at = first + (size_t)t * channels;
        state = __float2bfloat16(__bfloat162float(c[at]) * __bfloat162float(state) + __bfloat162float(x[at]));
        y[at] = state;
    }
}

extern "C" cudaError_t launch_rounded(int batch, int seq_len, int channels, const __nv_bfloat16 *x,
                                      const __nv_bfloat16 *c, __nv_bfloat16 *y)
{
    if (batch == 0 || seq_len == 0 || channels == 0)
        return cudaSuccess;
    const size_t threads = (size_t)batch * channels;
    walk<<<(unsigned)((threads + 63) / 64), 64>>>(batch, seq_len, channels, x, c, y);
    return cudaGetLastError();
}
