/* SPDX-License-Identifier: MIT */
/* staged.cu - blocked.cu with another way to load and store: the threads copy a tile to or from shared memory so that
   neighbouring lanes touch neighbouring elements, and each takes its own consecutive elements from there.

       global memory     | 0 | 1 | 2 | 3 | ... |31 |32 | ...      lane k takes elements k, k + threads, ...
       shared memory     |0 .. 7|8 .. 15|16 .. 23| ...            then thread t takes elements 8 t to 8 t + 7

   Shared memory has 32 banks, and float i lies in bank i % 32. The groups of 8 begin in banks 0, 8, 16, 24, 0, ...:
   only four of 32. So one float in 32 is left free (`padded`), and they begin in banks 0, 8, 16, 24, 1, 9, ... */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "tiles.h"

enum { ELEMS = 8 }; /* of a thread in each tile */

static __device__ __forceinline__ int padded(int index)
{
    return index + index / 32;
}

/* Elements [begin, begin + blockDim.x * ELEMS) of a sequence to the threads that own them; what is not there, or comes
   before element `first`, becomes `otherwise`. stage: shared memory for all of them. */
static __device__ __forceinline__ void tile_load(const float *sequence, size_t begin, size_t first, size_t seq_len,
                                                 float otherwise, float *stage, float *values)
{
#pragma unroll
    for (int i = 0; i < ELEMS; i++) { /* all loads are on their way before the first is waited for */
        const size_t at = begin + i * blockDim.x + threadIdx.x;
        values[i] = at >= first && at < seq_len ? sequence[at] : otherwise;
    }
    __syncthreads(); /* everybody has taken what the stage held before */
#pragma unroll
    for (int i = 0; i < ELEMS; i++)
        stage[padded(i * blockDim.x + threadIdx.x)] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ELEMS; i++)
        values[i] = stage[padded(threadIdx.x * ELEMS + i)];
}

/* And back. */
static __device__ __forceinline__ void tile_store(float *sequence, size_t begin, size_t seq_len, float *stage,
                                                  const float *values)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ELEMS; i++)
        stage[padded(threadIdx.x * ELEMS + i)] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ELEMS; i++) {
        const int at = i * blockDim.x + threadIdx.x;
        if (begin + at < seq_len)
            sequence[begin + at] = stage[padded(at)];
    }
}

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len). Shared memory: a tile, padded. */
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    staged_forward(size_t seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                   float *__restrict__ outputs)
{
    extern __shared__ float stage[];
    __shared__ struct warp_totals totals[2];
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, num_warps = blockDim.x / 32;
    float x[ELEMS], c[ELEMS];
    float carry = 0.0f;
    int turn = 0;

    inputs += blockIdx.x * seq_len, coeffs += blockIdx.x * seq_len, outputs += blockIdx.x * seq_len;
    for (size_t base = 0; base < seq_len; base += blockDim.x * ELEMS) {
        /* 1. Load. The first coefficient of the sequence is not used. */
        tile_load(inputs, base, 0, seq_len, 0.0f, stage, x);
        tile_load(coeffs, base, 1, seq_len, 1.0f, stage, c);

        /* 2. The thread, and the lanes of the warp. */
#pragma unroll
        for (int i = 1; i < ELEMS; i++) {
            x[i] = x[i - 1] * c[i] + x[i];
            c[i] = c[i - 1] * c[i];
        }
        const struct pair mine = {c[ELEMS - 1], x[ELEMS - 1]};
        const struct pair up_to_here = warp_scan(mine, lane);
        const struct pair before = lane_before(up_to_here, lane);

        /* 3. The warps of the block, and the carry: lane w computes what leaves warp w. */
        if (lane == 31)
            totals[turn].product[warp] = up_to_here.product, totals[turn].sum[warp] = up_to_here.sum;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* 4. What comes in is added, and the tile is stored. */
        const float into = base == 0 && warp == 0 ? before.sum : into_warp * before.product + before.sum;
        const bool first = base == 0 && thread == 0;
#pragma unroll
        for (int i = 0; i < ELEMS; i++)
            x[i] = first ? x[i] : into * c[i] + x[i];
        tile_store(outputs, base, seq_len, stage, x);
    }
}

extern "C" cudaError_t pipe_staged_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, ELEMS / 4, 128, 1);
    const cudaError_t error = pipe_check(args, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const size_t tile = (size_t)config.threads * ELEMS, shared = (tile + tile / 32) * sizeof(float);
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, shared, stream);
    return cudaLaunchKernelEx(&launch, staged_forward, args->seq_len, args->inputs, args->coeffs, args->outputs);
}
