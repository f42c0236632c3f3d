/* SPDX-License-Identifier: MIT */
/* 06.2  The other end

   This kernel runs the recurrence forward: a warp takes a sequence, row after row of 32 groups of four. Turn it round:

       y[l] = y[l+1] * c[l] + x[l],   y[L-1] = x[L-1]

   Number the elements in the order of the scan, from a multiple of 16 bytes at or after the sequence's end on. In these
   numbers nothing changes: the sequence's own are [begin, end), and lane 0 has the first group.

       memory                 |  .   .  y[0] y[1]|y[2] ...         ... |         y[L-2] y[L-1]  .  |
       number                                                          |3        2      1       0  | origin
                                                                       `--group of lane 0

   Goal: right for every length and for sequences that begin anywhere, and 12 bytes moved for an element, as forward
   (12.7 where they begin at odd places).

   Change the lines that say "here". The scan stays as it is. */
#include <cuda_runtime.h>

#include "../../04_warp_scan/warp_scan.cuh"

enum { ROW = 128, WARPS = 4 };

/* The group of four from number `at` on, counted from `origin`; what is not in [begin, end) becomes `otherwise`. */
static __device__ __forceinline__ void load4(const float *origin, int at, int begin, int end, float otherwise,
                                             float *four)
{
    const float *const from = origin + at; /* here: where in memory does the group begin? */
    if (at >= begin && at + 4 <= end) {
        const float4 whole = *(const float4 *)from;
        four[0] = whole.x, four[1] = whole.y, four[2] = whole.z, four[3] = whole.w; /* here */
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            four[i] = at + i >= begin && at + i < end ? from[i] : otherwise; /* here */
    }
}

static __device__ __forceinline__ void store4(float *origin, int at, int begin, int end, const float *four)
{
    float *const to = origin + at; /* here, and below */
    if (at >= begin && at + 4 <= end) {
        *(float4 *)to = make_float4(four[0], four[1], four[2], four[3]);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (at + i >= begin && at + i < end)
                to[i] = four[i];
    }
}

/* Each warp takes a sequence, row after row. inputs, coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(32 * WARPS)
    reverse(int num_seqs, int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
            float *__restrict__ outputs)
{
    const int lane = threadIdx.x % 32, seq = blockIdx.x * WARPS + threadIdx.x / 32;
    if (seq >= num_seqs)
        return;
    const size_t start = (size_t)seq * seq_len, origin = start & ~(size_t)3; /* here: where does the counting begin? */
    const int begin = (int)(start - origin), end = begin + seq_len;          /* here */
    float x[4], c[4], carry = 0.0f;

    for (int row = 0; row < end; row += ROW) {
        const int at = row + lane * 4; /* the number of the group's first element */
        load4(inputs + origin, at, begin, end, 0.0f, x);
        load4(coeffs + origin, at, begin, end, 1.0f, c);
#pragma unroll
        for (int i = 0; i < 4; i++) /* the coefficient of the first element is not used */
            if (at + i == begin)
                c[i] = 1.0f;

#pragma unroll
        for (int i = 1; i < 4; i++) { /* the scan, as it was */
            x[i] = x[i - 1] * c[i] + x[i];
            c[i] = c[i - 1] * c[i];
        }
        const struct pair mine = {c[3], x[3]};
        const struct pair before = lane_before(warp_scan(mine, lane), lane);
        const float into = row == 0 ? before.sum : carry * before.product + before.sum;
        if (at > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[i] = into * c[i] + x[i];
        }
        carry = __shfl_sync(ALL_LANES, x[3], 31);
        store4(outputs + origin, at, begin, end, x);
    }
}

extern "C" cudaError_t launch_reverse(int num_seqs, int seq_len, const float *inputs, const float *coeffs,
                                      float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    reverse<<<(num_seqs + WARPS - 1) / WARPS, 32 * WARPS>>>(num_seqs, seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
