/* SPDX-License-Identifier: MIT */
/* 09.4  What a chunk does to the state

   One warp for 32 channels would leave the chip idle where there are few of them. So four warps share the channels, a
   lane for each channel, and each takes every fourth chunk of time, 8 steps long:

       warp     0      1      2      3      0      1   ...
       chunk  |  0  |  1  |  2  |  3  |  4  |  5  | ...
       round  |------------- 0 -----------|-------- 1 ...

   In a round the warps work side by side, and none of them waits until another one is through its chunk. For that they
   need to know what comes into their chunk. What a chunk does to any state h that comes in is a pair:

       h   ->   product h + end        end: what leaves the chunk if 0 comes in
                                       product = exp(A step 0) ... exp(A step 7) = exp(A (sum of the steps))

   Each warp computes the pair of its chunk and writes it to shared memory; all meet at a barrier; each leads the state
   through the chunks that come before its own. Then it goes through its chunk from the true state.

   As it is, every chunk begins with 0.

   Goal: right, one barrier for each round, and everything loaded once: 8 bytes for an element.

   Write where it says "here". h[l] = exp(|delta| A) h[l-1] + |delta| u, with A = -1/16; decay and input hold these. */
#include <cuda_runtime.h>
#include "../../common/cuda/fast_math.h"

#define A_LOG2_E (-1.4426950408889634f / 16)

enum { CHANNELS = 32, WARPS = 4, STEPS = 8 };

/* out: all h. u, delta, out: (channels, seq_len). */
static __global__ void __launch_bounds__(32 * WARPS) carry(int channels, int seq_len, const float *__restrict__ u,
                                                           const float *__restrict__ delta, float *__restrict__ out)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = blockIdx.x * CHANNELS + lane;
    const size_t row = (size_t)channel * seq_len;
    for (int round = 0; round < seq_len; round += WARPS * STEPS) {
        const int at = round + warp * STEPS;
        float decay[STEPS], input[STEPS];
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            const bool there = channel < channels && at + i < seq_len;
            const float step = there ? fabsf(delta[row + at + i]) : 0.0f; /* a step of 0 changes nothing */
            decay[i] = fast_exp2(step * A_LOG2_E);
            input[i] = there ? step * u[row + at + i] : 0.0f;
        }

        float h = 0.0f; /* here: what comes into the chunk */

#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            h = decay[i] * h + input[i];
            if (channel < channels && at + i < seq_len)
                out[row + at + i] = h;
        }
    }
}

extern "C" cudaError_t launch_carry(int channels, int seq_len, const float *u, const float *delta, float *out)
{
    if (channels == 0)
        return cudaSuccess;
    carry<<<(channels + CHANNELS - 1) / CHANNELS, 32 * WARPS>>>(channels, seq_len, u, delta, out);
    return cudaGetLastError();
}
