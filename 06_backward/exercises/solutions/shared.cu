/* SPDX-License-Identifier: MIT */
/* 06.4  One coefficient for a whole sequence */
#include <cuda_runtime.h>

#include "../../../04_warp_scan/warp_scan.cuh"
#include "direction.cuh"

enum { ROW = 128, WARPS = 4 };

/* Each warp takes a sequence, row after row, from its end. decays, d_decays: (num_seqs), all others (num_seqs,
 * seq_len). */
static __global__ void __launch_bounds__(32 * WARPS)
    gradients(int num_seqs, int seq_len, const float *__restrict__ d_outputs, const float *__restrict__ decays,
              const float *__restrict__ outputs, float *__restrict__ d_inputs, float *__restrict__ d_decays)
{
    const int lane = threadIdx.x % 32, seq = blockIdx.x * WARPS + threadIdx.x / 32;
    if (seq >= num_seqs)
        return;
    const size_t start = (size_t)seq * seq_len, stop = start + seq_len, origin = origin_of<1>(start, stop);
    const int begin = (int)(origin - stop), end = begin + seq_len;
    const float decay = decays[seq];
    float x[4], c[4], y[4], carry = 0.0f, sum = 0.0f;

    for (int row = 0; row < end; row += ROW) {
        const int at = row + lane * 4; /* the number of the group's first element, counted from the sequence's end */
        load4<1>(d_outputs + origin, at, begin, end, 0.0f, x);
        load4<1>(outputs + origin, at, begin, end, 0.0f, y);
        const float y_behind = lane == 0 && row + ROW < end ? outputs[origin + place<1>(row + ROW, 1)] : 0.0f;

        c[0] = 1.0f;
#pragma unroll
        for (int i = 1; i < 4; i++) {
            x[i] = x[i - 1] * decay + x[i];
            c[i] = c[i - 1] * decay;
        }
        const struct pair mine = {c[3] * decay, x[3] * decay};
        const struct pair before = lane_before(warp_scan(mine, lane), lane);
        const float into = row == 0 ? before.sum : carry * before.product + before.sum;
        if (at > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[i] = into * c[i] + x[i];
        }
        carry = __shfl_sync(ALL_LANES, x[3] * decay, 31);
        store4<1>(d_inputs + origin, at, begin, end, x);

        /* what element `at + i` contributes to d_decay; the very last has no output after it, those behind it no x */
        const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? y_behind : y[0], (lane + 1) % 32);
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (at + i >= begin && at + i < end - 1)
                sum += (i < 3 ? y[i + 1] : y_next) * x[i];
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) /* afterwards lane 0 has the sum over all lanes */
        sum += __shfl_down_sync(ALL_LANES, sum, d);
    if (lane == 0)
        d_decays[seq] = sum;
}

extern "C" cudaError_t launch_shared(int num_seqs, int seq_len, const float *d_outputs, const float *decays,
                                     const float *outputs, float *d_inputs, float *d_decays)
{
    const int blocks = (num_seqs + WARPS - 1) / WARPS;

    if (num_seqs == 0)
        return cudaSuccess;
    gradients<<<blocks, 32 * WARPS>>>(num_seqs, seq_len, d_outputs, decays, outputs, d_inputs, d_decays);
    return cudaGetLastError();
}
