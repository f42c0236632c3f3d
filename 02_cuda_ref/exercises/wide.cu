/* SPDX-License-Identifier: MIT */
/* 02.5  Wide stores

   full_blocks stores 4 bytes at a time, and chapter 02 suspects that it waits for these stores. Store 16 bytes, a
   float4, where that is possible: four results are collected in registers, and go out together.

       step      l      l + 1   l + 2   l + 3
       result    y      y       y       y          ->  float4 out = {.x, .y, .z, .w}, one store

   A float4 must lie at a multiple of 16 bytes. The arrays do, and the rows follow each other without a gap. So all rows
   do if seq_len is a multiple of 4. For the other lengths keep the loop as it is.

   Goal: a quarter of the stores where seq_len is a multiple of 4, and right for all lengths. coeffs[0] is never used:
   it may be NaN.

   Write where it says "here". */
#include <cuda_runtime.h>

static __global__ void wide(size_t num_seqs, size_t seq_len, const float *__restrict__ inputs,
                            const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    inputs += seq * seq_len;
    coeffs += seq * seq_len;
    outputs += seq * seq_len;

    /* here: if rows begin at multiples of 16 bytes, four elements in each turn. *(float4 *)(outputs + l) = out; stores
       them */

    float y = inputs[0];
    outputs[0] = y;
    for (size_t l = 1; l < seq_len; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

extern "C" cudaError_t launch_wide(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs,
                                   float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    wide<<<(unsigned)((num_seqs + 127) / 128), 128>>>(num_seqs, seq_len, inputs, coeffs, outputs);
    return cudaGetLastError();
}
