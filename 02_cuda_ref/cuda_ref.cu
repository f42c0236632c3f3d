/* cuda_ref.cu - the loop of chapter 01 on the GPU: every thread walks one sequence.

   One kernel a pass, launched in two ways:

       one_per_block    block 0   block 1   block 2  ...          a block of 1 thread
                        |t0     | |t0     | |t0     |
       sequence            0         1         2

       full_blocks      block 0                      block 1      a block of 128 threads
                        |t0  t1  t2  ...       t127| |t0   t1   ...
       sequence           0   1   2             127   128  129
*/
#include <cuda_runtime.h>

#include "cuda_ref.h"

/* y[l] = y[l-1] * c[l] + x[l], from the first element to the last, or reversed from the last to the first.
   inputs, coeffs, outputs: (num_seqs, seq_len), seq_len >= 1. */
__global__ void ref_forward(size_t num_seqs, size_t seq_len, bool reverse, const float *__restrict__ inputs,
                            const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const size_t seq = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (seq >= num_seqs) /* the last block may have threads to spare */
        return;
    inputs += seq * seq_len;
    coeffs += seq * seq_len;
    outputs += seq * seq_len;

    const ptrdiff_t step = reverse ? -1 : 1;
    ptrdiff_t l = reverse ? seq_len - 1 : 0;
    float y = inputs[l]; /* nothing comes before it: its coefficient is not used */
    outputs[l] = y;
    for (size_t n = 1; n < seq_len; n++) {
        l += step;
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
}

/* The gradients of ref_forward with the same `reverse`: so this walks the other way.
   d_inputs[l] = d_inputs[l+1] * c[l+1] + d_outputs[l],   d_coeffs[l] = y[l-1] * d_inputs[l]   (chapter 01 derives
   them). */
__global__ void ref_backward(size_t num_seqs, size_t seq_len, bool reverse, const float *__restrict__ d_outputs,
                             const float *__restrict__ coeffs, const float *__restrict__ outputs,
                             float *__restrict__ d_inputs, float *__restrict__ d_coeffs)
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
        d_coeffs[l] = outputs[l + step] * d_x; /* l + step came before l on the way here */
        d_x = d_x * coeffs[l] + d_outputs[l + step];
        l += step;
    }
    d_inputs[l] = d_x;
    d_coeffs[l] = 0.0f; /* the coefficient that was not used */
}

/* Blocks of `threads` threads so that every sequence has a thread; 0 if the grid cannot be that long. */
static unsigned grid_size(size_t num_seqs, unsigned threads)
{
    const size_t blocks = num_seqs / threads + (num_seqs % threads != 0);
    return blocks <= 0x7FFFFFFF ? (unsigned)blocks : 0; /* 2^31 - 1, CUDA's limit for gridDim.x */
}

static cudaError_t launch_forward(const struct linrec_args *args, unsigned threads, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const unsigned blocks = grid_size(args->num_seqs, threads);
    if (blocks == 0)
        return cudaErrorInvalidValue;
    ref_forward<<<blocks, threads, 0, stream>>>(args->num_seqs, args->seq_len, args->reverse, args->inputs,
                                                args->coeffs, args->outputs);
    return cudaGetLastError();
}

static cudaError_t launch_backward(const struct linrec_args *args, unsigned threads, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, true);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const unsigned blocks = grid_size(args->num_seqs, threads);
    if (blocks == 0)
        return cudaErrorInvalidValue;
    ref_backward<<<blocks, threads, 0, stream>>>(args->num_seqs, args->seq_len, args->reverse, args->d_outputs,
                                                 args->coeffs, args->outputs, args->d_inputs, args->d_coeffs);
    return cudaGetLastError();
}

extern "C" cudaError_t cuda_ref_one_per_block_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_forward(args, 1, stream);
}

extern "C" cudaError_t cuda_ref_one_per_block_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_backward(args, 1, stream);
}

extern "C" cudaError_t cuda_ref_full_blocks_forward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_forward(args, CUDA_REF_THREADS, stream);
}

extern "C" cudaError_t cuda_ref_full_blocks_backward(const struct linrec_args *args, cudaStream_t stream)
{
    return launch_backward(args, CUDA_REF_THREADS, stream);
}
