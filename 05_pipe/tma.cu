/* SPDX-License-Identifier: MIT */
/* tma.cu - async.cu, but one thread asks for the whole tile: the TMA (Tensor Memory Accelerator, sm_90) is given two
   addresses and a size, and copies. The other threads do nothing until an mbarrier in shared memory, one for each
   stage, tells that the bytes have come.

       TMA           | tile 0 | tile 1 | tile 2 |              | tile 3 | ...
       all threads   wait     | take 0 | barrier | scan 0 | wait for tile 1, ...
                                         thread 0 asks for tile 3: nobody needs the stage of tile 0 any more  */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "../common/cuda/tma.h"

#include "../04_warp_scan/warp_scan.cuh"
#include "groups.cuh"
#include "stages.h"

/* Starts the TMA bulk copies of the tile at `base` into a stage, x and behind it c: the whole groups of the sequence
   [begin, end), if there are any. One thread calls this. */
static __device__ __forceinline__ void tile_send(const float *inputs, const float *coeffs, size_t base, int begin,
                                                 size_t end, int tile_len, float *stage, uint64_t *arrived)
{
    const int first = base == 0 ? (begin + 3) & ~3 : 0, last = elems_left(base, end, tile_len) & ~3;
    const unsigned bytes = last > first ? (last - first) * sizeof(float) : 0;
    if (base < end)
        mbarrier_expect(arrived, 2 * bytes); /* the phase's one arrival, also where no group is whole */
    if (bytes != 0) {
        tma_load(stage + first, inputs + base + first, bytes, arrived);
        tma_load(stage + tile_len + first, coeffs + base + first, bytes, arrived);
    }
}

/* Block s computes sequence s. inputs, coeffs, outputs: (num_seqs, seq_len). Shared memory: num_stages tiles of x and
 * c. */
template <int rows>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    tma_forward(size_t seq_len, int num_stages, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                float *__restrict__ outputs)
{
    extern __shared__ __align__(128) float stages[];
    __shared__ uint64_t arrived[PIPE_MAX_STAGES]; /* for each stage, whether its tile has come */
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element in a tile; in row r, r rows on */
    const int tile_len = num_warps * rows * PIPE_ROW;
    const size_t start = blockIdx.x * seq_len, origin = start & ~(size_t)3;
    const int begin = (int)(start - origin);
    const size_t end = begin + seq_len;
    float x[rows][4], c[rows][4];
    float carry = 0.0f; /* what comes into the tile: the same number in every thread */
    int turn = 0;       /* which of the totals */

    if (threadIdx.x == 0) {
        for (int s = 0; s < num_stages; s++)
            mbarrier_init(&arrived[s], 1);
        mbarrier_init_done();
        for (int s = 0; s < num_stages; s++)
            tile_send(inputs + origin, coeffs + origin, (size_t)s * tile_len, begin, end, tile_len,
                      stages + s * 2 * tile_len, &arrived[s]);
    }
    __syncthreads();           /* now all threads see the mbarriers */
    int stage = 0, parity = 0; /* the stage of this tile, and the parity of the phase that brings it */
    for (size_t base = 0; base < end; base += tile_len) {
        const int first = base == 0 ? begin : 0, last = elems_left(base, end, tile_len);
        const size_t tile = origin + base; /* where in the arrays the tile begins */

        /* 1. The tile has come. */
        mbarrier_wait(&arrived[stage], parity);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float *const from = stages + stage * 2 * tile_len;
            take4(from, inputs + tile, own + r * PIPE_ROW, first, last, 0.0f, x[r]);
            take4(from + tile_len, coeffs + tile, own + r * PIPE_ROW, first, last, 1.0f, c[r]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
            if (base == 0 && own + i == begin)
                c[0][i] = 1.0f;

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

        /* [refill] 3. The warps of the block, and the carry. */
        if (lane == 31)
            totals[turn].product[warp] = whole_warp.product, totals[turn].sum[warp] = whole_warp.sum;
        fence_proxy_async(); /* the tile was read before its stage is filled again */
        __syncthreads();
        if (threadIdx.x == 0) /* everybody has taken the tile: its stage is free for another one */
            tile_send(inputs + origin, coeffs + origin, base + (size_t)num_stages * tile_len, begin, end, tile_len,
                      stages + stage * 2 * tile_len, &arrived[stage]);
        if (++stage == num_stages)
            stage = 0, parity ^= 1;

        /* [carry] Lane w computes what leaves warp w. */
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
            store4(outputs + tile, own + r * PIPE_ROW, first, last, x[r]);
        }
    }
}

extern "C" cudaError_t pipe_tma_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, 2, 256, 3);
    cudaError_t error = pipe_check(args, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    const size_t shared = (size_t)config.stages * 2 * config.threads * config.rows * sizeof(float4);
    void (*const kernel)(size_t, int, const float *, const float *, float *) = config.rows == 1   ? tma_forward<1>
                                                                               : config.rows == 2 ? tma_forward<2>
                                                                                                  : tma_forward<4>;
    if ((error = gpu_allow_shared((const void *)kernel, shared, 90)) != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, config.stages, args->inputs, args->coeffs, args->outputs);
}
