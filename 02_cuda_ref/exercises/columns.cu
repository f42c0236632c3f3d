/* SPDX-License-Identifier: MIT */
/* 02.4  Columns

   The recurrence with one thread for each sequence, as in full_blocks, but the arrays are stored the other way round:
   first element 0 of all sequences, then element 1 of all sequences, and so on. Their shape is (seq_len, num_seqs):

       |s0 s1 s2 ... |s0 s1 s2 ... |s0 s1 s2 ... |          element l of sequence s at [l * num_seqs + s]
        l = 0         l = 1         l = 2

       y[0] = x[0],   y[l] = y[l-1] * c[l] + x[l]           c[0] is never used: it may be NaN

   Below is the kernel for rows. Make it one for columns.

   Goal: 4 sectors for each load and each store of a warp; and each element is loaded once (8 bytes, x and c) and stored
   once (4 bytes).

   Change what stands where it says "here". */
#include <cuda_runtime.h>

static __global__ void columns(size_t seq_len, size_t num_seqs, const float *__restrict__ inputs,
                               const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    inputs += seq * seq_len; /* here, and in all that follows */
    coeffs += seq * seq_len;
    outputs += seq * seq_len;

    float y = inputs[0];
    outputs[0] = y;
    for (size_t l = 1; l < seq_len; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

extern "C" cudaError_t launch_columns(size_t seq_len, size_t num_seqs, const float *inputs, const float *coeffs,
                                      float *outputs)
{
    if (seq_len == 0 || num_seqs == 0)
        return cudaSuccess;
    columns<<<(unsigned)((num_seqs + 127) / 128), 128>>>(seq_len, num_seqs, inputs, coeffs, outputs);
    return cudaGetLastError();
}
