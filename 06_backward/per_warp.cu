/* SPDX-License-Identifier: MIT */
/* per_warp.cu - chapter 05's per_warp.cu, also reversed. */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../05_pipe/warps.h"
#include "../common/cuda/launch_of.h"
#include "scan.h"
#include "direction.cuh"
#include "states.cuh"

/* Warp w, counted over all blocks, computes sequence w. inputs, coeffs, outputs: (num_seqs, seq_len). With the up to 3
   elements before its first one a sequence fits into the rows (pipe_warp_holds). */
template <int rows, int from_end>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    per_warp_forward(size_t num_seqs, int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
                     float *__restrict__ outputs, struct states states)
{
    const int lane = threadIdx.x % 32, own = lane * 4;
    const size_t seq = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (seq >= num_seqs)
        return;
    const size_t start = seq * seq_len, stop = start + seq_len, origin = origin_of<from_end>(start, stop);
    const int begin = (int)(from_end ? origin - stop : start - origin), end = begin + seq_len;
    float x[rows][4], c[rows][4];

    /* 1. Load. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        load4<from_end>(inputs + origin, own + r * PIPE_ROW, begin, end, 0.0f, x[r]);
        load4<from_end>(coeffs + origin, own + r * PIPE_ROW, begin, end, 1.0f, c[r]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (own + i == begin)
            enter_state(&states, state_load(states.initial_state, seq), &x[0][i], &c[0][i]);

    /* 2. The thread in each of its groups, the lanes of each row, and the rows one after the other. */
    struct pair before[rows], so_far;
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
            before[r] = pair_join(so_far, before[r]);
        so_far = r == 0 ? whole_row : pair_join(so_far, whole_row);
    }

    /* 3. What comes in is added; nothing comes into the first group. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        if (lane > 0 || r > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = before[r].sum * c[r][i] + x[r][i];
        }
        store4_unsplit<from_end>(outputs + origin, own + r * PIPE_ROW, begin, end, x[r]);
    }
    leave_state<rows>(&states, end - 1, own, x, seq);
}

extern "C" cudaError_t scan_per_warp(const struct linrec_args *args, cudaStream_t stream)
{
    if (args->config.rows == 0 && args->seq_len <= PIPE_PER_WARP_MAX_LEN && !pipe_warp_holds(4, args->seq_len))
        return scan_flat(args, stream); /* 510 and 511: see pipe_warp_holds */
    struct launch_config config = pipe_config(args, pipe_warp_holds(2, args->seq_len) ? 2 : 4, 128, 1);
    if (args->config.threads == 0)
        config.threads = 128;
    const cudaError_t error = backward_check(args, false, &config);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, false, stream);
    if (!pipe_warp_holds(config.rows, args->seq_len))
        return cudaErrorInvalidValue;
    void (*const forward)(size_t, int, const float *, const float *, float *, struct states) =
        config.rows == 1   ? per_warp_forward<1, 0>
        : config.rows == 2 ? per_warp_forward<2, 0>
                           : per_warp_forward<4, 0>;
    void (*const from_end)(size_t, int, const float *, const float *, float *, struct states) =
        config.rows == 1   ? per_warp_forward<1, 1>
        : config.rows == 2 ? per_warp_forward<2, 1>
                           : per_warp_forward<4, 1>;
    void (*const kernel)(size_t, int, const float *, const float *, float *, struct states) =
        args->reverse ? from_end : forward;
    const size_t warps = config.threads / 32;
    const cudaLaunchConfig_t launch =
        launch_of((unsigned)((args->num_seqs - 1) / warps + 1), config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->num_seqs, (int)args->seq_len, args->inputs, args->coeffs,
                              args->outputs, states_of(args));
}
