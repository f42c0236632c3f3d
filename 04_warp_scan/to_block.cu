/* SPDX-License-Identifier: MIT */
/* to_block.cu - level 3: to_warp.cu, and then the warps combine their results through shared memory. Now the
   result is the recurrence. There is one barrier in all.

       warp 0                            warp 1
       lane 0    lane 1     lane 31      lane 0    lane 1
       |e>e>e>e|>|e>e>e>e|> ... e>e|  >  |e>e>e>e|>|e>e>e>e|> ...   */
#include <cuda_runtime.h>

#include "../03_tile/tile.h"
#include "warp_scan.cuh"
#include "warp_scan.h"

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len), seq_len at most elems * blockDim.x. */
template <int elems>
static __global__ void __launch_bounds__(1024)
    to_block_forward(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                     float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals;
    float x[elems], c[elems];

    const int thread = threadIdx.x, num_threads = blockDim.x;
    const int size = seq_len / num_threads, longer = seq_len % num_threads; /* `longer` threads have one element more */
    const int count = size + (thread < longer);
    const int begin = thread * size + (thread < longer ? thread : longer);
    const int lane = thread % 32, warp = thread / 32, num_warps = num_threads / 32;
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

    /* [warp] Level 2, the warp. */
    const struct pair mine = {c[elems - 1], x[elems - 1]};
    const struct pair up_to_here = warp_scan(mine, lane);
    const struct pair before = lane_before(up_to_here, lane);

    /* [block] Level 3, the block: lane 31 holds its warp's aggregate. */
    if (lane == 31)
        totals.product[warp] = up_to_here.product, totals.sum[warp] = up_to_here.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, num_warps, lane);

    /* [into] The carry into this thread. Nothing comes into the first warp, nor into its first thread. A 0 in its place
       would be wrong, because 0 * infinity is NaN. */
    float into = before.sum;
    if (warp > 0)
        into = __shfl_sync(ALL_LANES, up_to_warp.sum, warp - 1) * before.product + before.sum;
    if (thread > 0) {
#pragma unroll
        for (int i = 0; i < elems; i++)
            x[i] = into * c[i] + x[i];
    }

#pragma unroll
    for (int i = 0; i < elems; i++)
        if (i < count)
            outputs[row + begin + i] = x[i];
}

extern "C" cudaError_t warp_scan_to_block_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len > TILE_MAX_LEN || args->num_seqs > 0x7FFFFFFF || args->reverse)
        return cudaErrorInvalidValue;

    const unsigned blocks = (unsigned)args->num_seqs, threads = tile_threads(args->seq_len);
    const int seq_len = (int)args->seq_len, elems = tile_elems(args->seq_len);
    if (elems == 4)
        to_block_forward<4><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else if (elems == 8)
        to_block_forward<8><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    else
        to_block_forward<16><<<blocks, threads, 0, stream>>>(seq_len, args->inputs, args->coeffs, args->outputs);
    return cudaGetLastError();
}
