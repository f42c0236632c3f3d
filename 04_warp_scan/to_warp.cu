/* SPDX-License-Identifier: MIT */
/* to_warp.cu - level 2: to_thread.cu, and then the lanes of each warp combine their results by shuffles, with no
   shared memory and no barrier. The warps exchange nothing yet: every warp begins as if nothing came before it.

       warp 0                            warp 1
       lane 0    lane 1     lane 31      lane 0    lane 1
       |e>e>e>e|>|e>e>e>e|> ... e>e|     |e>e>e>e|>|e>e>e>e|> ...   */
#include <cuda_runtime.h>

#include "../03_tile/tile.h"
#include "warp_scan.cuh"
#include "warp_scan.h"

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len), seq_len at most elems * blockDim.x. */
template <int elems>
static __global__ void __launch_bounds__(1024)
    to_warp_forward(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ outputs)
{
    float x[elems], c[elems];

    const int thread = threadIdx.x, num_threads = blockDim.x;
    const int size = seq_len / num_threads, longer = seq_len % num_threads; /* `longer` threads have one element more */
    const int count = size + (thread < longer);
    const int begin = thread * size + (thread < longer ? thread : longer);
    const int lane = thread % 32;
    const size_t row = (size_t)blockIdx.x * seq_len;

#pragma unroll
    for (int i = 0; i < elems; i++) {
        x[i] = i < count ? inputs[row + begin + i] : 0.0f;
        c[i] = i < count && begin + i > 0 ? coeffs[row + begin + i] : 1.0f;
    }

    /* Level 1, the thread. */
#pragma unroll
    for (int i = 1; i < elems; i++) {
        x[i] = x[i - 1] * c[i] + x[i];
        c[i] = c[i - 1] * c[i];
    }

    /* Level 2, the warp: the carry into a lane is the result of all lanes before it. Nothing comes into the first. */
    const struct pair mine = {c[elems - 1], x[elems - 1]};
    const struct pair before = lane_before(warp_scan(mine, lane), lane);
    if (lane > 0) {
#pragma unroll
        for (int i = 0; i < elems; i++)
            x[i] = before.sum * c[i] + x[i];
    }

#pragma unroll
    for (int i = 0; i < elems; i++)
        if (i < count)
            outputs[row + begin + i] = x[i];
}

extern "C" cudaError_t warp_scan_to_warp_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len > TILE_MAX_LEN || args->num_seqs > 0x7FFFFFFF || args->reverse)
        return cudaErrorInvalidValue;

    const unsigned blocks = (unsigned)args->num_seqs, threads = tile_threads(args->seq_len);
    const int seq_len = (int)args->seq_len, elems = tile_elems(args->seq_len);
    if (elems == 4)
        to_warp_forward<4><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else if (elems == 8)
        to_warp_forward<8><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else
        to_warp_forward<16><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}
