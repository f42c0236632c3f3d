/* SPDX-License-Identifier: MIT */
/* tma_evict_last.cu - chapter 05's tma_evict_last.cu, also reversed. A tile lies in its stage as it lies in memory:
   reversed, its origin is the stage's end. */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "../common/cuda/tma.h"

#include "../04_warp_scan/warp_scan.cuh"
#include "scan.h"
#include "direction.cuh"
#include "states.cuh"

/* Starts the TMA bulk copies of the tile at `base` into a stage, x and behind it c: the whole groups of the sequence
   [begin, end), if there are any. One thread calls this. */
template <int from_end>
static __device__ __forceinline__ void tile_send(const float *inputs, const float *coeffs, size_t origin, size_t base,
                                                 int begin, size_t end, int tile_len, float *stage, uint64_t *arrived,
                                                 uint64_t hint)
{
    const int first = base == 0 ? (begin + 3) & ~3 : 0, last = elems_left(base, end, tile_len) & ~3;
    const unsigned bytes = last > first ? (last - first) * sizeof(float) : 0;
    if (base < end)
        mbarrier_expect(arrived, 2 * bytes);
    if (bytes != 0) {
        const ptrdiff_t to = place<from_end>(first, last - first), from = tile_at<from_end>(origin, base) + to;
        tma_load_hint(stage + to, inputs + from, bytes, arrived, hint);
        tma_load_hint(stage + tile_len + to, coeffs + from, bytes, arrived, hint);
    }
}

/* Block s computes sequence s, from its first element to its last or reversed. inputs, coeffs, outputs: (num_seqs,
 * seq_len). Shared memory: num_stages tiles of x and c. */
template <int rows, int from_end>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    tma_evict_last_forward(size_t seq_len, int num_stages, const float *__restrict__ inputs,
                           const float *__restrict__ coeffs, float *__restrict__ outputs, struct states states)
{
    extern __shared__ __align__(128) float stages[];
    __shared__ uint64_t arrived[PIPE_MAX_STAGES]; /* for each stage, whether its tile has come */
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element in a tile; in row r, r rows on */
    const int tile_len = num_warps * rows * PIPE_ROW;
    const size_t start = blockIdx.x * seq_len, stop = start + seq_len, origin = origin_of<from_end>(start, stop);
    const int begin = (int)(from_end ? origin - stop : start - origin);
    const size_t end = begin + seq_len;
    float *const first_stage = stages + from_end * tile_len; /* the origin of its tile of x */
    float x[rows][4], c[rows][4];
    const uint64_t hint = l2_evict_last();
    float carry = 0.0f; /* what comes into the tile: the same number in every thread */
    int turn = 0;       /* which of the totals */

    if (threadIdx.x == 0) {
        for (int s = 0; s < num_stages; s++)
            mbarrier_init(&arrived[s], 1);
        mbarrier_init_done();
        for (int s = 0; s < num_stages; s++)
            tile_send<from_end>(inputs, coeffs, origin, (size_t)s * tile_len, begin, end, tile_len,
                                first_stage + s * 2 * tile_len, &arrived[s], hint);
    }
    __syncthreads();           /* now all threads see the mbarriers */
    int stage = 0, parity = 0; /* the stage of this tile, and the parity of the phase that brings it */
    for (size_t base = 0; base < end; base += tile_len) {
        const int first = base == 0 ? begin : 0, last = elems_left(base, end, tile_len);
        const size_t tile = tile_at<from_end>(origin, base); /* its origin in the arrays */
        const float state = base == 0 ? state_load(states.initial_state, blockIdx.x) : 0.0f;

        /* 1. The tile has come. */
        mbarrier_wait(&arrived[stage], parity);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float *const from = first_stage + stage * 2 * tile_len;
            take4<from_end>(from, inputs + tile, own + r * PIPE_ROW, first, last, 0.0f, x[r]);
            take4<from_end>(from + tile_len, coeffs + tile, own + r * PIPE_ROW, first, last, 1.0f, c[r]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (base == 0 && own + i == begin)
                enter_state(&states, state, &x[0][i], &c[0][i]);

        /* 2. Each group of four (now x is its sum so far, c its product), the lanes of a row, the rows of the warp. */
        struct pair before[rows], whole_warp;
#pragma unroll
        for (int r = 0; r < rows; r++) {
#pragma unroll
            for (int i = 1; i < 4; i++) {
                x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
                c[r][i] = c[r][i - 1] * c[r][i];
            }
            const struct pair mine = {c[r][3], x[r][3]};
            const struct pair up_to_here = warp_scan(mine, lane), whole_row = pair_shfl(up_to_here, 31);
            before[r] = lane_before(up_to_here, lane);
            if (r > 0)
                before[r] = pair_join(whole_warp, before[r]);
            whole_warp = r == 0 ? whole_row : pair_join(whole_warp, whole_row);
        }

        /* 3. The warps of the block, and the carry: lane w computes what leaves warp w. */
        if (lane == 31)
            totals[turn].product[warp] = whole_warp.product, totals[turn].sum[warp] = whole_warp.sum;
        fence_proxy_async(); /* the tile was read before its stage is filled again */
        __syncthreads();
        if (threadIdx.x == 0) /* everybody has taken the tile: its stage is free for another one */
            tile_send<from_end>(inputs, coeffs, origin, base + (size_t)num_stages * tile_len, begin, end, tile_len,
                                first_stage + stage * 2 * tile_len, &arrived[stage], hint);
        if (++stage == num_stages)
            stage = 0, parity ^= 1;
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* 4. What comes in is added, and the tile is stored. Nothing comes into the sequence's first warp, nor into its
           first group; adding 0 * c would not do, because 0 * infinity is NaN. */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float into = base == 0 && warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
            if (base > 0 || threadIdx.x > 0 || r > 0) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    x[r][i] = into * c[r][i] + x[r][i];
            }
            store4<from_end>(outputs + tile, own + r * PIPE_ROW, first, last, x[r]);
        }
    }
    leave_state<rows>(&states, (int)((end - 1) % tile_len), own, x, blockIdx.x);
}

extern "C" cudaError_t scan_tma_evict_last(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, 2, 256, 3);
    cudaError_t error = config.rows == 1 ? cudaErrorInvalidValue : backward_check(args, false, &config);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, false, stream);
    void (*const kernel)(size_t, int, const float *, const float *, float *, struct states) =
        args->reverse ? (config.rows == 2 ? tma_evict_last_forward<2, 1> : tma_evict_last_forward<4, 1>)
                      : (config.rows == 2 ? tma_evict_last_forward<2, 0> : tma_evict_last_forward<4, 0>);
    const size_t shared = (size_t)config.stages * 2 * config.threads * config.rows * sizeof(float4);
    if ((error = gpu_allow_shared((const void *)kernel, shared, 90)) != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, config.stages, args->inputs, args->coeffs, args->outputs,
                              states_of(args));
}
