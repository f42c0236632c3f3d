/* SPDX-License-Identifier: MIT */
/* 06.3  Two kernels become one

   The gradients of a forward pass, in two kernels. The first one scans from the end of each sequence and stores
   d_inputs. The second one loads them again, and the outputs, and multiplies:

       d_coeffs[l] = outputs[l-1] * d_inputs[l],   d_coeffs[0] = 0

   Let the first kernel do both, and launch no second one. Counted from the end, as the scan counts, an element needs
   the output of the element *after* it. Three of a group's outputs its own thread has loaded; who has the fourth?

       number         s      s+1    s+2    s+3  | s+4
       d_inputs      x[0]   x[1]   x[2]   x[3]  |
       outputs       y[0]   y[1]   y[2]   y[3]  |  ?
                         `------`------`------`----'     d_coeffs: each x times the y after it

   Goal: one launch, and 20.25 bytes moved for an element: five arrays, and one more sector for each row of a warp.
   Nothing outside of a sequence is read, and a NaN in d_inputs[0] does not get into d_coeffs[0].

   In direction.cuh, place<1>(n, 1) says where in memory the element with number n lies, counted from the origin.

   Write where it says "here". */
#include <cuda_runtime.h>

#include "../../04_warp_scan/warp_scan.cuh"
#include "direction.cuh"

enum { ROW = 128, WARPS = 4 };

/* Each warp takes a sequence, row after row, from its end. All arrays: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(32 * WARPS)
    gradients(int num_seqs, int seq_len, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
              float *__restrict__ d_inputs) /* here: what else does it need? */
{
    const int lane = threadIdx.x % 32, seq = blockIdx.x * WARPS + threadIdx.x / 32;
    if (seq >= num_seqs)
        return;
    const size_t start = (size_t)seq * seq_len, stop = start + seq_len, origin = origin_of<1>(start, stop);
    const int begin = (int)(origin - stop), end = begin + seq_len;
    float x[4], c[4], carry = 0.0f;

    for (int row = 0; row < end; row += ROW) {
        const int at = row + lane * 4; /* the number of the group's first element, counted from the sequence's end */
        load4<1>(d_outputs + origin, at, begin, end, 0.0f, x);
        load4<1>(coeffs + origin, at, begin, end, 1.0f, c);
        /* here: the outputs, and the one that none of the warp's lanes has */

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

        /* here: d_coeffs */
    }
}

/* All elements of all sequences, one for each thread. */
static __global__ void d_coeffs_only(int count, int seq_len, const float *__restrict__ outputs,
                                     const float *__restrict__ d_inputs, float *__restrict__ d_coeffs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        d_coeffs[i] = i % seq_len == 0 ? 0.0f : outputs[i - 1] * d_inputs[i];
}

extern "C" cudaError_t launch_fuse(int num_seqs, int seq_len, const float *d_outputs, const float *coeffs,
                                   const float *outputs, float *d_inputs, float *d_coeffs)
{
    const int blocks = (num_seqs + WARPS - 1) / WARPS, count = num_seqs * seq_len;

    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    gradients<<<blocks, 32 * WARPS>>>(num_seqs, seq_len, d_outputs, coeffs, d_inputs);
    d_coeffs_only<<<(count + 127) / 128, 128>>>(count, seq_len, outputs, d_inputs, d_coeffs); /* here: not any more */
    return cudaGetLastError();
}
