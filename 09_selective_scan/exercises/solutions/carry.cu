/* SPDX-License-Identifier: MIT */
/* 09.4  What a chunk does to the state */
#include <cuda_runtime.h>
#include "../../../common/cuda/fast_math.h"

#define A_LOG2_E (-1.4426950408889634f / 16)

enum { CHANNELS = 32, WARPS = 4, STEPS = 8 };

/* out: all h. u, delta, out: (channels, seq_len). */
static __global__ void __launch_bounds__(32 * WARPS) carry(int channels, int seq_len, const float *__restrict__ u,
                                                           const float *__restrict__ delta, float *__restrict__ out)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = blockIdx.x * CHANNELS + lane;
    const size_t row = (size_t)channel * seq_len;
    __shared__ float products[2][WARPS][32], ends[2][WARPS][32]; /* of this round, and of the one before */
    float state = 0.0f;                                          /* what comes into the round */
    int buffer = 0;
    for (int round = 0; round < seq_len; round += WARPS * STEPS, buffer ^= 1) {
        const int at = round + warp * STEPS;
        float decay[STEPS], input[STEPS], sum = 0.0f, end = 0.0f;
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
            const bool there = channel < channels && at + i < seq_len;
            const float step = there ? fabsf(delta[row + at + i]) : 0.0f; /* a step of 0 changes nothing */
            decay[i] = fast_exp2(step * A_LOG2_E);
            input[i] = there ? step * u[row + at + i] : 0.0f;
            sum += step;
            end = decay[i] * end + input[i];
        }

        products[buffer][warp][lane] = fast_exp2(sum * A_LOG2_E);
        ends[buffer][warp][lane] = end;
        __syncthreads();
        float h = state; /* what comes into the chunk */
        for (int w = 0; w < WARPS; w++) {
            if (w == warp)
                h = state;
            state = products[buffer][w][lane] * state + ends[buffer][w][lane];
        }

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
