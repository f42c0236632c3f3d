/* SPDX-License-Identifier: MIT */
/* blocked.cu - any length: a block takes its sequence tile after tile and hands a carry from each to the next. Against
   to_block of chapter 04 it has a loop over tiles and a carry. The loads are still those of chapter 03: each thread
   loads its own consecutive elements.

                       tile 0                        tile 1
       sequence   |t0: 0..7|t1: 8..15| ... |tn|  |t0|t1| ... |tn|  ...
                                              `-carry-'            */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "tiles.h"

enum { ELEMS = 8 }; /* of a thread in each tile */

/* [places] Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    blocked_forward(size_t seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                    float *__restrict__ outputs)
{
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, num_warps = blockDim.x / 32;
    float x[ELEMS], c[ELEMS];
    float carry = 0.0f; /* what comes into the tile: the same number in every thread */
    int turn = 0;       /* which of the totals */

    inputs += blockIdx.x * seq_len, coeffs += blockIdx.x * seq_len, outputs += blockIdx.x * seq_len;
    /* [tiles] One tile after the other. */
    for (size_t base = 0; base < seq_len; base += blockDim.x * ELEMS) {
        /* 1. Load. A 1 stands in for the first coefficient of the sequence; (0, 1) changes nothing. */
        const size_t begin = base + thread * ELEMS;
#pragma unroll
        for (int i = 0; i < ELEMS; i++) {
            x[i] = begin + i < seq_len ? inputs[begin + i] : 0.0f;
            c[i] = begin + i < seq_len && begin + i > 0 ? coeffs[begin + i] : 1.0f;
        }

        /* 2. The thread, and the lanes of the warp. */
#pragma unroll
        for (int i = 1; i < ELEMS; i++) {
            x[i] = x[i - 1] * c[i] + x[i];
            c[i] = c[i - 1] * c[i];
        }
        const struct pair mine = {c[ELEMS - 1], x[ELEMS - 1]};
        const struct pair up_to_here = warp_scan(mine, lane);
        const struct pair before = lane_before(up_to_here, lane);

        /* 3. The warps of the block, and the carry: every lane computes what leaves one warp, and takes from its
           neighbours what comes into its own warp and what leaves the tile. */
        if (lane == 31)
            totals[turn].product[warp] = up_to_here.product, totals[turn].sum[warp] = up_to_here.sum;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* 4. What comes in is added, and the tile is stored. Nothing comes into the first warp of the sequence, nor
           into its first thread; a 0 in its place would not do, because 0 * infinity is NaN. */
        const float into = base == 0 && warp == 0 ? before.sum : into_warp * before.product + before.sum;
        const bool first = base == 0 && thread == 0;
#pragma unroll
        for (int i = 0; i < ELEMS; i++)
            if (begin + i < seq_len)
                outputs[begin + i] = first ? x[i] : into * c[i] + x[i];
    }
}

extern "C" cudaError_t pipe_blocked_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, ELEMS / 4, 64, 1);
    const cudaError_t error = pipe_check(args, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, blocked_forward, args->seq_len, args->inputs, args->coeffs, args->outputs);
}
