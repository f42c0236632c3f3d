/* SPDX-License-Identifier: MIT */
/* all_ways.cu - full_blocks in all four directions: forward, reversed, and the gradients of both.

   What is new against full_blocks.cu: a thread starts at either end of its row and steps by +1 or -1, and a second
   kernel computes the gradients. Which thread has which sequence stays the same.

                      forward              reversed
       outputs        0 -> ... -> L-1      L-1 -> ... -> 0      step +1, step -1
       gradients      L-1 -> ... -> 0      0 -> ... -> L-1      each against the direction of its outputs
*/
#include <cuda_runtime.h>

#include "cuda_ref.h"

static __global__ void all_ways_forward(size_t num_seqs, size_t seq_len, bool reverse, const float *__restrict__ inputs,
                                        const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    inputs += seq * seq_len;
    coeffs += seq * seq_len;
    outputs += seq * seq_len;

    const ptrdiff_t step = reverse ? -1 : 1;
    ptrdiff_t l = reverse ? seq_len - 1 : 0;
    float y = inputs[l];
    outputs[l] = y;
    for (size_t n = 1; n < seq_len; n++) {
        l += step;
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

/* The gradients of all_ways_forward with the same `reverse`, so this one walks the other way (derived in chapter 01):
   d_inputs[l] = d_inputs[l+1] * c[l+1] + d_outputs[l],   d_coeffs[l] = y[l-1] * d_inputs[l]. */
static __global__ void all_ways_backward(size_t num_seqs, size_t seq_len, bool reverse,
                                         const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
                                         const float *__restrict__ outputs, float *__restrict__ d_inputs,
                                         float *__restrict__ d_coeffs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs)
        return;
    d_outputs += seq * seq_len;
    coeffs += seq * seq_len;
    outputs += seq * seq_len;
    d_inputs += seq * seq_len;
    d_coeffs += seq * seq_len;

    const ptrdiff_t step = reverse ? 1 : -1;
    ptrdiff_t l = reverse ? 0 : seq_len - 1;
    float d_x = d_outputs[l];
    for (size_t n = 1; n < seq_len; n++) {
        d_inputs[l] = d_x;
        d_coeffs[l] = outputs[l + step] * d_x; /* the output that coeffs[l] was multiplied with */
        d_x = d_x * coeffs[l] + d_outputs[l + step];
        l += step;
    }
    d_inputs[l] = d_x;
    d_coeffs[l] = 0.0f; /* of the coefficient that was not used */
}

extern "C" cudaError_t cuda_ref_all_ways_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const size_t blocks = (args->num_seqs + CUDA_REF_THREADS - 1) / CUDA_REF_THREADS;
    if (blocks > CUDA_REF_MAX_BLOCKS)
        return cudaErrorInvalidValue;

    all_ways_forward<<<(unsigned)blocks, CUDA_REF_THREADS, 0, stream>>>(args->num_seqs, args->seq_len, args->reverse,
                                                                        args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}

extern "C" cudaError_t cuda_ref_all_ways_backward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, true);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const size_t blocks = (args->num_seqs + CUDA_REF_THREADS - 1) / CUDA_REF_THREADS;
    if (blocks > CUDA_REF_MAX_BLOCKS)
        return cudaErrorInvalidValue;

    all_ways_backward<<<(unsigned)blocks, CUDA_REF_THREADS, 0, stream>>>(args->num_seqs, args->seq_len, args->reverse,
                                                                         args->d_outputs, args->coeffs, args->outputs,
                                                                         args->d_inputs, args->d_coeffs);
    return cudaGetLastError();
}
