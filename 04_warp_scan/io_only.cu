/* SPDX-License-Identifier: MIT */
/* io_only.cu - level 0: chapter 03's loads and stores with only one addition between them, so that both arrays are
   really loaded. It does not compute the recurrence: it is there to measure what moving the data costs.

       thread 0      thread 1      thread 2
       |e e e e|     |e e e e|     |e e e e| ...      consecutive elements, as in chapter 03   */
#include <cuda_runtime.h>

#include "../03_tile/tile.h"
#include "warp_scan.h"

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len), seq_len at most elems * blockDim.x. */
template <int elems>
static __global__ void __launch_bounds__(1024)
    io_only_forward(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ outputs)
{
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

#pragma unroll
    for (int i = 0; i < elems; i++)
        x[i] = x[i] + c[i];

#pragma unroll
    for (int i = 0; i < elems; i++)
        if (i < count)
            outputs[row + begin + i] = x[i];
}

extern "C" cudaError_t warp_scan_io_only_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len > TILE_MAX_LEN || args->num_seqs > 0x7FFFFFFF || args->reverse)
        return cudaErrorInvalidValue;

    const unsigned blocks = (unsigned)args->num_seqs, threads = tile_threads(args->seq_len);
    const int seq_len = (int)args->seq_len, elems = tile_elems(args->seq_len);
    if (elems == 4)
        io_only_forward<4><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else if (elems == 8)
        io_only_forward<8><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else
        io_only_forward<16><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}
