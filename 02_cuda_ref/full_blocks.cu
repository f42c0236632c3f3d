/* SPDX-License-Identifier: MIT */
/* full_blocks.cu - the loop of chapter 01 on the GPU: each of the 128 threads of a block walks one sequence.

   What is new against one_per_block.cu: blocks have 128 threads. So a thread's sequence follows from its block's number
   and its own number, and the last block may have threads to spare.

       block 0                        block 1                            block 2, of 300 sequences
       |t0   t1   t2   ...   t127|    |t0   t1   t2   ...   t127|        |t0   t1   ...   t43  t44 ... t127|
         0    1    2         127       128  129  130        255           256  257        299   (no sequence)
*/
#include <cuda_runtime.h>

#include "cuda_ref.h"

static __global__ void full_blocks_forward(size_t num_seqs, size_t seq_len, const float *__restrict__ inputs,
                                           const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs) /* a thread to spare */
        return;
    inputs += seq * seq_len;
    coeffs += seq * seq_len;
    outputs += seq * seq_len;

    float y = inputs[0]; /* nothing comes before it: coeffs[0] is not read */
    outputs[0] = y;
    for (size_t l = 1; l < seq_len; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

extern "C" cudaError_t cuda_ref_full_blocks_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const size_t blocks = (args->num_seqs + CUDA_REF_THREADS - 1) / CUDA_REF_THREADS; /* rounded up */
    if (args->reverse || blocks > CUDA_REF_MAX_BLOCKS)
        return cudaErrorInvalidValue;

    full_blocks_forward<<<(unsigned)blocks, CUDA_REF_THREADS, 0, stream>>>(args->num_seqs, args->seq_len, args->inputs,
                                                                           args->coeffs, args->outputs);
    return cudaGetLastError();
}
