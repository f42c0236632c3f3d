/* SPDX-License-Identifier: MIT */
/* shared.cu - serial.cu with another phase 2: all threads combine their results in shared memory, in log2 steps.

   A pair (product, sum) tells what a segment of the sequence does: y comes in, y * product + sum comes out. Before the
   step of distance d, a thread holds the pair of the last d threads, itself included. Afterwards it is the last 2 d:

       thread      0    1    2    3    4    5
       at first    0    1    2    3    4    5          first and last thread that the pair stands for
       d = 1       0   01   12   23   34   45
       d = 2       0   01   02   03   14   25
       d = 4       0   01   02   03   04   05          */
#include <cuda_runtime.h>

#include "tile.h"

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len), seq_len at most elems * blockDim.x. */
template <int elems>
static __global__ void __launch_bounds__(1024)
    shared_forward(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                   float *__restrict__ outputs)
{
    __shared__ float products[1024], sums[1024];
    float x[elems], c[elems];

    const int thread = threadIdx.x, num_threads = blockDim.x;
    const int size = seq_len / num_threads, longer = seq_len % num_threads; /* `longer` threads have one element more */
    const int count = size + (thread < longer);
    const int begin = thread * size + (thread < longer ? thread : longer);
    const size_t row = (size_t)blockIdx.x * seq_len;

#pragma unroll
    for (int i = 0; i < elems; i++) {
        x[i] = i < count ? inputs[row + begin + i] : 0.0f;
        c[i] = i < count && begin + i > 0 ? coeffs[row + begin + i] : 1.0f;
    }

    /* 1. Local. */
#pragma unroll
    for (int i = 1; i < elems; i++) {
        x[i] = x[i - 1] * c[i] + x[i];
        c[i] = c[i - 1] * c[i];
    }

    /* [carry] 2. Carry: two barriers a step. All must have written before anyone reads, and all must have read before
       anyone writes again. */
    float product = c[elems - 1], sum = x[elems - 1];
    for (int d = 1; d < num_threads; d *= 2) {
        products[thread] = product;
        sums[thread] = sum;
        __syncthreads();
        if (thread >= d) {
            sum = sums[thread - d] * product + sum;
            product = products[thread - d] * product;
        }
        __syncthreads();
    }
    sums[thread] = sum;
    __syncthreads();

    /* [combine] 3. Combine: what leaves thread - 1 is the carry. Nothing comes into the first thread. */
    if (thread > 0) {
        const float into = sums[thread - 1];
#pragma unroll
        for (int i = 0; i < elems; i++)
            x[i] = into * c[i] + x[i];
    }

#pragma unroll
    for (int i = 0; i < elems; i++)
        if (i < count)
            outputs[row + begin + i] = x[i];
}

extern "C" cudaError_t tile_shared_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len > TILE_MAX_LEN || args->num_seqs > 0x7FFFFFFF || args->reverse)
        return cudaErrorInvalidValue;

    const unsigned blocks = (unsigned)args->num_seqs, threads = tile_threads(args->seq_len);
    const int seq_len = (int)args->seq_len, elems = tile_elems(args->seq_len);
    if (elems == 4)
        shared_forward<4><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else if (elems == 8)
        shared_forward<8><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else
        shared_forward<16><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}
