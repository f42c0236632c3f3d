/* SPDX-License-Identifier: MIT */
/* tma_evict_last_backward.cu - prefetch_backward.cu with the stages of tma_evict_last.cu: a stage holds the tile of
   three arrays. */
#include <cuda_runtime.h>
#include "../common/cuda/tma.h"

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "gradients.h"
#include "direction.cuh"
#include "states.cuh"

/* Starts the TMA bulk copies of the tile at `base` into a stage, d_outputs and behind them coeffs and outputs: the
   whole groups of the sequence [begin, end), if there are any. One thread calls this. */
template <int from_end>
static __device__ __forceinline__ void tile_send(const float *d_outputs, const float *coeffs, const float *outputs,
                                                 size_t origin, size_t base, int begin, size_t end, int tile_len,
                                                 float *stage, uint64_t *arrived, uint64_t hint)
{
    const int first = base == 0 ? (begin + 3) & ~3 : 0, last = elems_left(base, end, tile_len) & ~3;
    const unsigned bytes = last > first ? (last - first) * sizeof(float) : 0;
    if (base < end)
        mbarrier_expect(arrived, 3 * bytes);
    if (bytes != 0) {
        const ptrdiff_t to = place<from_end>(first, last - first), from = tile_at<from_end>(origin, base) + to;
        tma_load_hint(stage + to, d_outputs + from, bytes, arrived, hint);
        tma_load_hint(stage + tile_len + to, coeffs + from, bytes, arrived, hint);
        tma_load_hint(stage + 2 * tile_len + to, outputs + from, bytes, arrived, hint);
    }
}

/* Block s computes the gradients of sequence s; `from_end`: the scan begins at the end, as after a forward pass. All
   arrays: (num_seqs, seq_len). Shared memory: num_stages tiles of three arrays. */
template <int rows, int from_end>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    tma_evict_last_backward(size_t seq_len, int num_stages, const float *__restrict__ d_outputs,
                            const float *__restrict__ coeffs, const float *__restrict__ outputs,
                            float *__restrict__ d_inputs, float *__restrict__ d_coeffs, struct states states)
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
    float *const first_stage = stages + from_end * tile_len; /* the origin of its tile of d_outputs */
    float x[rows][4], c[rows][4], y[rows][4];
    const uint64_t hint = l2_evict_last();
    float carry = 0.0f; /* what comes into the tile: the same number in every thread */
    int turn = 0;       /* which of the totals */
    state_prefetch(states.initial_state, blockIdx.x);

    if (threadIdx.x == 0) {
        for (int s = 0; s < num_stages; s++)
            mbarrier_init(&arrived[s], 1);
        mbarrier_init_done();
        for (int s = 0; s < num_stages; s++)
            tile_send<from_end>(d_outputs, coeffs, outputs, origin, (size_t)s * tile_len, begin, end, tile_len,
                                first_stage + s * 3 * tile_len, &arrived[s], hint);
    }
    __syncthreads();           /* now all threads see the mbarriers */
    int stage = 0, parity = 0; /* the stage of this tile, and the parity of the phase that brings it */
    for (size_t base = 0; base < end; base += tile_len) {
        const int first = base == 0 ? begin : 0, last = elems_left(base, end, tile_len);
        const size_t tile = tile_at<from_end>(origin, base); /* its origin in the arrays */
        /* The first output after the warp's rows: lane 0 loads it and hands it to lane 31 in step 4. */
        const int behind = (warp + 1) * rows * PIPE_ROW;
        const float y_behind = lane == 0 && base + behind < end ? outputs[tile + place<from_end>(behind, 1)] : 0.0f;

        /* 1. The tile has come. */
        mbarrier_wait(&arrived[stage], parity);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const int at = own + r * PIPE_ROW;
            const float *const from = first_stage + stage * 3 * tile_len;
            take4<from_end>(from, d_outputs + tile, at, first, last, 0.0f, x[r]);
            take4<from_end>(from + tile_len, coeffs + tile, at, first, last, 1.0f, c[r]);
            take4<from_end>(from + 2 * tile_len, outputs + tile, at, first, last, 0.0f, y[r]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (base == 0 && own + i == begin)
                enter_gradient(&states, blockIdx.x, &x[0][i]);

        /* 2. A group's coefficients move on by one; the last one only scales what leaves the group. The rest is as in
           prefetch.cu. */
        struct pair before[rows], whole_warp;
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float left_over = c[r][3];
            c[r][3] = c[r][2], c[r][2] = c[r][1], c[r][1] = c[r][0], c[r][0] = 1.0f;
#pragma unroll
            for (int i = 1; i < 4; i++) {
                x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
                c[r][i] = c[r][i - 1] * c[r][i];
            }
            const struct pair mine = {c[r][3] * left_over, x[r][3] * left_over};
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
        const float initial_state = base + last == end ? state_load(states.initial_state, blockIdx.x) : 0.0f;
        __syncthreads();
        if (threadIdx.x == 0) /* everybody has taken the tile: its stage is free for another one */
            tile_send<from_end>(d_outputs, coeffs, outputs, origin, base + (size_t)num_stages * tile_len, begin, end,
                                tile_len, first_stage + stage * 3 * tile_len, &arrived[stage], hint);
        if (++stage == num_stages)
            stage = 0, parity ^= 1;
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* 4. What comes in is added: x is d_inputs now. d_coeffs is that times the next output; the one after a lane's
           last is the next lane's first, or the first of the next row. */
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const float into = base == 0 && warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
            const bool nothing = base == 0 && threadIdx.x == 0 && r == 0; /* comes into the sequence's first group */
            const float next_row = r + 1 < rows ? y[r + 1][0] : y_behind;
            const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? next_row : y[r][0], (lane + 1) % 32);
            const int very_last = base + last == end ? last - 1 - own - r * PIPE_ROW : -1;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                x[r][i] = nothing ? x[r][i] : into * c[r][i] + x[r][i];
                y[r][i] = i == very_last ? first_d_coeff(&states, initial_state, x[r][i])
                                         : (i < 3 ? y[r][i + 1] : y_next) * x[r][i];
            }
            store4<from_end>(d_inputs + tile, own + r * PIPE_ROW, first, last, x[r]);
            store4<from_end>(d_coeffs + tile, own + r * PIPE_ROW, first, last, y[r]);
        }
    }
    if (threadIdx.x == 0)
        leave_gradient(&states, carry, blockIdx.x);
}

extern "C" cudaError_t backward_tma_evict_last(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, 4, args->seq_len < 16384 ? 256 : 512, 2);
    cudaError_t error = config.rows == 1 ? cudaErrorInvalidValue : backward_check(args, true, &config);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, true, stream);
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(size_t, int, const float *, const float *, const float *, float *, float *, struct states) =
        args->reverse ? (config.rows == 2 ? tma_evict_last_backward<2, 0> : tma_evict_last_backward<4, 0>)
                      : (config.rows == 2 ? tma_evict_last_backward<2, 1> : tma_evict_last_backward<4, 1>);
    const size_t shared = (size_t)config.stages * 3 * config.threads * config.rows * sizeof(float4);
    if ((error = gpu_allow_shared((const void *)kernel, shared, 90)) != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, config.stages, args->d_outputs, args->coeffs,
                              args->outputs, args->d_inputs, args->d_coeffs, states_of(args));
}
