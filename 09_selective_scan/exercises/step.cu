/* SPDX-License-Identifier: MIT */
/* 09.1  A fused step

   A channel with one state. What the scan needs is made where it is needed, and never written to memory:

       step = |delta[l]|                                  (it stands for softplus: a step is positive)
       h    = exp(step A) h + step B[l] u[l]              A = -1/16, and h begins with 0
       out[l] = C[l] h

   A thread has a channel and walks through time:

       thread         0               1               2
       u, delta, out  |row . . . .|   |row . . . .|   |row . . . .|     (channels, seq_len)
       B, C           |. . . . . . .|  one row for all channels         (seq_len)

   Goal: 16 bytes loaded for an element of u, 4 stored, one launch. An unfused plan would write exp(step A) and
   step B u for each element, and read them again.

   Write where it says "here". fast_exp2 (fast_math.h) gives 2^x, and e^x = 2^(x log2 e). */
#include <cuda_runtime.h>
#include "../../common/cuda/fast_math.h"

#define LOG2_E 1.4426950408889634f
#define A (-1.0f / 16)

static __global__ void fused_step(int channels, int seq_len, const float *__restrict__ u,
                                  const float *__restrict__ delta, const float *__restrict__ B,
                                  const float *__restrict__ C, float *__restrict__ out)
{
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;
    const size_t row = (size_t)channel * seq_len;
    float h = 0.0f;
    for (int l = 0; l < seq_len; l++) {
        /* here: lead h through step l */
        (void)u, (void)delta, (void)B, (void)C;
        out[row + l] = h;
    }
}

extern "C" cudaError_t launch_step(int channels, int seq_len, const float *u, const float *delta, const float *B,
                                   const float *C, float *out)
{
    if (channels == 0)
        return cudaSuccess;
    fused_step<<<(channels + 63) / 64, 64>>>(channels, seq_len, u, delta, B, C, out);
    return cudaGetLastError();
}
