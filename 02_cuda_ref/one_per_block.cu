/* SPDX-License-Identifier: MIT */
/* one_per_block.cu - the loop of chapter 01 on the GPU: a block of one thread walks one sequence.

   Compared with seq_forward of chapter 01 (loop_body.h) one thing changes: nothing loops over the sequences. All blocks
   run this same function, and a block's number says which sequence is its own.

       block 0                block 1                block 2
       |thread 0|             |thread 0|             |thread 0|
       |0 1 2 ... seq_len - 1||0 1 2 ... seq_len - 1||0 1 2 ... seq_len - 1| ...      rows of inputs, coeffs, outputs
*/
#include <cuda_runtime.h>

#include "cuda_ref.h"

static __global__ void one_per_block_forward(size_t seq_len, const float *__restrict__ inputs,
                                             const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t row = blockIdx.x * seq_len; /* where this sequence begins */
    inputs += row;
    coeffs += row;
    outputs += row;

    float y = inputs[0]; /* nothing comes before it: coeffs[0] is not read */
    outputs[0] = y;
    for (size_t l = 1; l < seq_len; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

extern "C" cudaError_t cuda_ref_one_per_block_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->reverse || args->num_seqs > CUDA_REF_MAX_BLOCKS)
        return cudaErrorInvalidValue;

    const unsigned blocks = (unsigned)args->num_seqs;
    one_per_block_forward<<<blocks, 1, 0, stream>>>(args->seq_len, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}
