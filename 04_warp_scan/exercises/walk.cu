/* SPDX-License-Identifier: MIT */
/* 04.4  A warp walks a long row

   One warp for each row, and rows of any length: the warp takes 32 elements, scans them, stores them, and goes on with
   the next 32. What one step hands to the next is the carry, the last output so far, as in chapter 01's walk. There is
   only one warp, so it takes no shared memory and no barrier.

       lanes 0 ... 31    lanes 0 ... 31    lanes 0 ... 9
       |. . . . . . . .| |. . . . . . . .| |. . . |              a row of 74 elements
                       |   ^             |   ^
                       +---+ carry       +---+ carry

   Lane l of step n has element 32 * n + l, so neighbouring lanes load and store neighbouring elements.

   Goal: 4 sectors for each load and each store, which is the best for 32 floats (for 32 float4s it is 16), so 12 bytes
   are moved for an element; each element loaded once; and 11 shuffles for 32 elements. coeffs[0] is not used; it may be
   NaN.

   Write where it says "here". You may take warp_scan.cuh: struct pair, pair_join, warp_scan, and __shfl_sync. */
#include <cuda_runtime.h>

#include "warp_scan.cuh"

static __global__ void walk(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                            float *__restrict__ outputs)
{
    const int lane = threadIdx.x;
    inputs += (size_t)blockIdx.x * seq_len;
    coeffs += (size_t)blockIdx.x * seq_len;
    outputs += (size_t)blockIdx.x * seq_len;

    for (int begin = 0; begin < seq_len; begin += 32) {
        struct pair mine = {1.0f, 0.0f}; /* here: load */
        mine = warp_scan(mine, lane);    /* here: add what the carry contributes, store, hand on the new carry */
    }
}

extern "C" cudaError_t launch_walk(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    walk<<<num_seqs, 32>>>(seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
