/* SPDX-License-Identifier: MIT */
/* 09.2  Sixteen states

   Now a channel has 16 states, and its output is their sum:

       h[n]   = exp(step A[n]) h[n] + step B[n][l] u[l]      A[n] = -(n + 1)/16
       out[l] = sum over n of C[n][l] h[n]                   n = 0 ... 15

   This kernel is right. It has one h, so it takes the states one after the other: it walks through all of time for
   state 0, then once more for state 1, and so on, and adds up in `out`.

       as it is            state 0: |u delta out|u delta out| ...      what it should be      |u delta|u delta| ...
                           state 1: |u delta out|u delta out| ...                              16 states  16 states
                           ...                                                                 out        out

   u and delta are loaded 16 times, and `out` is loaded and stored again and again. Go through time only once, with 16
   states in registers. Then what is loaded for a step serves all of them. (B and C are different for each state.)

   Goal: 136 bytes loaded for an element of u, which are u, delta, 16 B and 16 C, and 4 bytes stored.

   Rewrite the loops where it says "here". A register array needs indices that are known at compile time: put
   #pragma unroll before a loop over the states. */
#include <cuda_runtime.h>
#include "../../common/cuda/fast_math.h"

#define LOG2_E 1.4426950408889634f

enum { STATES = 16 };

/* A of state n. */
static __device__ __forceinline__ float A_of(int n)
{
    return -(float)(n + 1) / STATES;
}

/* u, delta, out: (channels, seq_len). B, C: (STATES, seq_len), for all channels. */
static __global__ void sixteen(int channels, int seq_len, const float *__restrict__ u, const float *__restrict__ delta,
                               const float *__restrict__ B, const float *__restrict__ C, float *out)
{
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;
    const size_t row = (size_t)channel * seq_len;
    for (int n = 0; n < STATES; n++) { /* here */
        float h = 0.0f;
        for (int l = 0; l < seq_len; l++) {
            const float step = fabsf(delta[row + l]);
            h = fast_exp2(step * (A_of(n) * LOG2_E)) * h + step * B[(size_t)n * seq_len + l] * u[row + l];
            out[row + l] = C[(size_t)n * seq_len + l] * h + (n > 0 ? out[row + l] : 0.0f);
        }
    }
}

extern "C" cudaError_t launch_states(int channels, int seq_len, const float *u, const float *delta, const float *B,
                                     const float *C, float *out)
{
    if (channels == 0)
        return cudaSuccess;
    sixteen<<<(channels + 63) / 64, 64>>>(channels, seq_len, u, delta, B, C, out);
    return cudaGetLastError();
}
