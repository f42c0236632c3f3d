/* SPDX-License-Identifier: MIT */
/* serial.cu - one block per sequence, the whole sequence in the registers of its threads; one thread combines their
   results. In full_blocks of chapter 02 a sequence had one thread. Here many threads share it, in chapter 01's phases.

   Each thread takes consecutive elements, split evenly, so that two threads differ by one element at most:

       seq_len 10, 4 threads     |0 1 2|3 4 5|6 7|8 9|
       thread                       0     1    2   3          */
#include <cuda_runtime.h>

#include "tile.h"

/* [kernel] Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len), with seq_len at most elems *
   blockDim.x. */
template <int elems>
static __global__ void __launch_bounds__(1024)
    serial_forward(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                   float *__restrict__ outputs)
{
    __shared__ float products[1024], sums[1024];
    float x[elems], c[elems]; /* registers: every index below is known once the loops are unrolled */

    const int thread = threadIdx.x, num_threads = blockDim.x;
    const int size = seq_len / num_threads, longer = seq_len % num_threads; /* `longer` threads have one element more */
    const int count = size + (thread < longer);
    const int begin = thread * size + (thread < longer ? thread : longer);
    const size_t row = (size_t)blockIdx.x * seq_len;

    /* [load] Load, and fill up with x = 0, c = 1, which change nothing: y * 1 + 0 = y. A 1 also stands in for the first
       coefficient of the sequence, because no output comes before it that could be multiplied. */
#pragma unroll
    for (int i = 0; i < elems; i++) {
        x[i] = i < count ? inputs[row + begin + i] : 0.0f;
        c[i] = i < count && begin + i > 0 ? coeffs[row + begin + i] : 1.0f;
    }

    /* [local] 1. Local: the recurrence over the thread's own elements, as if nothing came before them. x becomes y, and
       c becomes the product of the coefficients up to each element. */
#pragma unroll
    for (int i = 1; i < elems; i++) {
        x[i] = x[i - 1] * c[i] + x[i];
        c[i] = c[i - 1] * c[i];
    }

    /* [carry] 2. Carry: thread 0 walks over all threads' results. */
    products[thread] = c[elems - 1];
    sums[thread] = x[elems - 1];
    __syncthreads();
    if (thread == 0) {
        float carry = sums[0];
        for (int i = 1; i < num_threads; i++) {
            const float out = carry * products[i] + sums[i];
            sums[i] = carry; /* the carry into thread i takes the place of its sum */
            carry = out;
        }
    }
    __syncthreads();

    /* [combine] 3. Combine: each thread adds what its carry contributes. Nothing comes into the first thread. */
    if (thread > 0) {
        const float into = sums[thread];
#pragma unroll
        for (int i = 0; i < elems; i++)
            x[i] = into * c[i] + x[i];
    }

#pragma unroll
    for (int i = 0; i < elems; i++)
        if (i < count)
            outputs[row + begin + i] = x[i];
}

extern "C" cudaError_t tile_serial_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len > TILE_MAX_LEN || args->num_seqs > 0x7FFFFFFF || args->reverse)
        return cudaErrorInvalidValue;

    const unsigned blocks = (unsigned)args->num_seqs, threads = tile_threads(args->seq_len);
    const int seq_len = (int)args->seq_len, elems = tile_elems(args->seq_len);
    if (elems == 4)
        serial_forward<4><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else if (elems == 8)
        serial_forward<8><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else
        serial_forward<16><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}
