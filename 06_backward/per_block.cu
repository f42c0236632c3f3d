/* SPDX-License-Identifier: MIT */
/* per_block.cu - float4.cu for a sequence that is a single tile: there is no carry and no loop, and a thread starts all
   of its loads before it waits for the first one.

       warp              0               1               2               3
       sequence  |. 0 1 2 ...    |               |               |    ... n-1 .  |    one row of 128 each, or 2, or 4 */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "scan.h"
#include "direction.cuh"
#include "states.cuh"

/* Block s computes sequence s, from its first element to its last or reversed. inputs, coeffs, outputs: (num_seqs,
 * seq_len). */
template <int rows, int from_end>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    per_block_forward(size_t seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                      float *__restrict__ outputs, struct states states)
{
    __shared__ struct warp_totals totals;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element; in row r, r rows on */
    const size_t start = blockIdx.x * seq_len, stop = start + seq_len, origin = origin_of<from_end>(start, stop);
    const int first = (int)(from_end ? origin - stop : start - origin), last = first + (int)seq_len;
    float x[rows][4], c[rows][4];

    /* 1. Load. One question for both arrays: nearly all groups are whole. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int at = own + r * PIPE_ROW;
        if (is_whole(at, first, last)) {
            read4<from_end>(inputs + origin + place<from_end>(at, 4), x[r]);
            read4<from_end>(coeffs + origin + place<from_end>(at, 4), c[r]);
        } else {
            load4<from_end>(inputs + origin, at, first, last, 0.0f, x[r]);
            load4<from_end>(coeffs + origin, at, first, last, 1.0f, c[r]);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (own + i == first)
            enter_state(&states, state_load(states.initial_state, blockIdx.x), &x[0][i], &c[0][i]);

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

    /* 3. The warps of the block. Nothing comes into the first one. */
    if (lane == 31)
        totals.product[warp] = whole_warp.product, totals.sum[warp] = whole_warp.sum;
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, num_warps, lane);
    const float into_warp = __shfl_sync(ALL_LANES, up_to_warp.sum, (warp + 31) % 32);

    /* 4. What comes in is added. Nothing comes into the first group; adding 0 * c would not do, because 0 * infinity is
       NaN. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const float into = warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
        if (threadIdx.x > 0 || r > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = into * c[r][i] + x[r][i];
        }
        store4_unsplit<from_end>(outputs + origin, own + r * PIPE_ROW, first, last, x[r]);
    }
    leave_state<rows>(&states, last - 1, own, x, blockIdx.x);
}

extern "C" cudaError_t scan_per_block(const struct linrec_args *args, cudaStream_t stream)
{
    const size_t elems = args->seq_len % 4 == 0 ? args->seq_len : args->seq_len + 3; /* and what is before its first */
    const int rows = elems <= 512 ? 1 : elems <= 8 * PIPE_MAX_THREADS ? 2 : 4;
    if (args->config.rows == 0 && args->seq_len <= BLOCK_MAX_LEN && elems > BLOCK_MAX_LEN)
        return scan_float4(args, stream); /* 8190 and 8191 may begin so late that they do not fit */
    const struct launch_config config = pipe_config(args, rows, PIPE_MAX_THREADS, 1);
    const cudaError_t error = backward_check(args, false, &config);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, false, stream);
    if (args->seq_len > BLOCK_MAX_LEN || elems > (size_t)4 * config.rows * config.threads)
        return cudaErrorInvalidValue;
    void (*const forward)(size_t, const float *, const float *, float *, struct states) =
        config.rows == 1   ? per_block_forward<1, 0>
        : config.rows == 2 ? per_block_forward<2, 0>
                           : per_block_forward<4, 0>;
    void (*const from_end)(size_t, const float *, const float *, float *, struct states) =
        config.rows == 1   ? per_block_forward<1, 1>
        : config.rows == 2 ? per_block_forward<2, 1>
                           : per_block_forward<4, 1>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, (args->reverse ? from_end : forward), args->seq_len, args->inputs, args->coeffs,
                              args->outputs, states_of(args));
}
