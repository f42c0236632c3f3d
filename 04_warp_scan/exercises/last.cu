/* SPDX-License-Identifier: MIT */
/* 04.5  The last output

   Of each sequence only the last output is wanted: the recurrence

       y[0] = x[0],   y[l] = y[l-1] * c[l] + x[l]           c[0] is never used: it may be NaN

   and then last = y[seq_len - 1], or 0 for a sequence without elements. That is a reduction: many pairs become one. In
   this kernel a warp has a sequence, but lane 0 walks alone.

   Let the warp take 32 neighbours at a time, a pair in each lane. Reduce them by shuffles, so that lane 0 has the pair
   of all 32, and let lane 0 apply that to what has come in from the elements before:

       d = 1    lane  0 <- 1    2 <- 3    4 <- 5    6 <- 7     each lane joins the pair of lane + d behind its own;
       d = 2    lane  0 <- 2              4 <- 6               what the lanes between them have then is not used
       d = 4    lane  0 <- 4                                   and so on

   Pairs must be joined with their neighbours: (C1, Y1) and (C2, Y2), one after the other, are (C1 C2, Y1 C2 + Y2).

   Goal: 64 loads of a warp for a sequence of 1024 elements, with 4 sectors each; no barrier and no shared memory.

   Write where it says "here". The struct pair with pair_join, pair_shfl and ALL_LANES comes from warp_scan.cuh. */
#include <cuda_runtime.h>

#include "warp_scan.cuh"

static __global__ void last_outputs(int num_seqs, int seq_len, const float *__restrict__ inputs,
                                    const float *__restrict__ coeffs, float *__restrict__ last)
{
    const int seq = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (seq >= num_seqs)
        return;
    inputs += (size_t)seq * seq_len;
    coeffs += (size_t)seq * seq_len;

    float y = 0.0f; /* here: 32 elements in each turn */
    for (int l = 0; lane == 0 && l < seq_len; l++)
        y = l == 0 ? inputs[l] : y * coeffs[l] + inputs[l];
    if (lane == 0)
        last[seq] = y;
}

extern "C" cudaError_t launch_last(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *last)
{
    if (num_seqs == 0)
        return cudaSuccess;
    last_outputs<<<(num_seqs + 3) / 4, 128>>>(num_seqs, seq_len, inputs, coeffs, last);
    return cudaGetLastError();
}
