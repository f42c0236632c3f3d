/* SPDX-License-Identifier: MIT */
/* 06.3  Two kernels become one */
#include <cuda_runtime.h>

#include "../../../04_warp_scan/warp_scan.cuh"
#include "direction.cuh"

enum { ROW = 128, WARPS = 4 };

/* Each warp takes a sequence, row after row, from its end. All arrays: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(32 * WARPS)
    gradients(int num_seqs, int seq_len, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
              const float *__restrict__ outputs, float *__restrict__ d_inputs, float *__restrict__ d_coeffs)
{
    const int lane = threadIdx.x % 32, seq = blockIdx.x * WARPS + threadIdx.x / 32;
    if (seq >= num_seqs)
        return;
    const size_t start = (size_t)seq * seq_len, stop = start + seq_len, origin = origin_of<1>(start, stop);
    const int begin = (int)(origin - stop), end = begin + seq_len;
    float x[4], c[4], y[4], carry = 0.0f;

    for (int row = 0; row < end; row += ROW) {
        const int at = row + lane * 4; /* the number of the group's first element, counted from the sequence's end */
        load4<1>(d_outputs + origin, at, begin, end, 0.0f, x);
        load4<1>(coeffs + origin, at, begin, end, 1.0f, c);
        load4<1>(outputs + origin, at, begin, end, 0.0f, y);
        const float y_behind = lane == 0 && row + ROW < end ? outputs[origin + place<1>(row + ROW, 1)] : 0.0f;

        /* the scan, with the coefficients moved on by one */
        const float left_over = c[3];
        c[3] = c[2], c[2] = c[1], c[1] = c[0], c[0] = 1.0f;
#pragma unroll
        for (int i = 1; i < 4; i++) {
            x[i] = x[i - 1] * c[i] + x[i];
            c[i] = c[i - 1] * c[i];
        }
        const struct pair mine = {c[3] * left_over, x[3] * left_over};
        const struct pair before = lane_before(warp_scan(mine, lane), lane);
        const float into = row == 0 ? before.sum : carry * before.product + before.sum;
        if (at > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[i] = into * c[i] + x[i];
        }
        carry = __shfl_sync(ALL_LANES, x[3] * left_over, 31);
        store4<1>(d_inputs + origin, at, begin, end, x);

        /* d_coeffs: the output after the group's last element is the next lane's first */
        const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? y_behind : y[0], (lane + 1) % 32);
#pragma unroll
        for (int i = 0; i < 4; i++)
            y[i] = at + i == end - 1 ? 0.0f : (i < 3 ? y[i + 1] : y_next) * x[i];
        store4<1>(d_coeffs + origin, at, begin, end, y);
    }
}

extern "C" cudaError_t launch_fuse(int num_seqs, int seq_len, const float *d_outputs, const float *coeffs,
                                   const float *outputs, float *d_inputs, float *d_coeffs)
{
    const int blocks = (num_seqs + WARPS - 1) / WARPS;

    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    gradients<<<blocks, 32 * WARPS>>>(num_seqs, seq_len, d_outputs, coeffs, outputs, d_inputs, d_coeffs);
    return cudaGetLastError();
}
