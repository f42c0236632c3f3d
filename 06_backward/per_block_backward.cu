/* SPDX-License-Identifier: MIT */
/* per_block_backward.cu - prefetch_backward.cu for a sequence that is a single tile. There is no next tile to prefetch,
   no carry and no loop, and a thread starts all of its loads before it waits for the first one. The output behind a
   warp's rows is the first one of the next warp, and comes through shared memory.

       warp              0               1               2               3
       sequence  |. 0 1 2 ...    |               |               |    ... n-1 .  |    one row of 128 each, or 2, or 4
       first_y                 <- [1]          <- [2]          <- [3]                                               */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "gradients.h"
#include "direction.cuh"
#include "states.cuh"

/* Blocks of one row that are to be on a multiprocessor: with four it has 2048 threads, and 32 registers for each. Not
   every chip has room for so many threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900
enum { SHORT_BLOCKS = 2 };
#else
enum { SHORT_BLOCKS = 4 };
#endif

/* Block s computes the gradients of sequence s; `from_end`: the scan begins at the end, as after a forward pass. All
   arrays: (num_seqs, seq_len). */
template <int rows, int from_end>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS, rows == 1 ? SHORT_BLOCKS : 1)
    per_block_backward(size_t seq_len, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
                       const float *__restrict__ outputs, float *__restrict__ d_inputs, float *__restrict__ d_coeffs,
                       struct states states)
{
    __shared__ struct warp_totals totals;
    __shared__ float first_y[PIPE_MAX_THREADS / 32]; /* of each warp, for the last lane of the one before */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element; in row r, r rows on */
    const size_t start = blockIdx.x * seq_len, stop = start + seq_len, origin = origin_of<from_end>(start, stop);
    const int first = (int)(from_end ? origin - stop : start - origin), last = first + (int)seq_len;
    float x[rows][4], c[rows][4], y[rows][4];
    state_prefetch(states.initial_state, blockIdx.x);

    /* [load] 1. Load. One condition for three arrays, because nearly all groups are whole. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int at = own + r * PIPE_ROW;
        if (is_whole(at, first, last)) {
            read4<from_end>(d_outputs + origin + place<from_end>(at, 4), x[r]);
            read4<from_end>(coeffs + origin + place<from_end>(at, 4), c[r]);
            read4<from_end>(outputs + origin + place<from_end>(at, 4), y[r]);
        } else {
            load4<from_end>(d_outputs + origin, at, first, last, 0.0f, x[r]);
            load4<from_end>(coeffs + origin, at, first, last, 1.0f, c[r]);
            load4<from_end>(outputs + origin, at, first, last, 0.0f, y[r]);
        }
    }

#pragma unroll
    for (int i = 0; i < 4; i++)
        if (own + i == first)
            enter_gradient(&states, blockIdx.x, &x[0][i]);

    /* [scan] 2. A group's coefficients move on by one; the last one only scales what leaves the group. The rest is as
       in prefetch.cu. */
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

    /* 3. The warps of the block. Nothing comes into the first one, and no output follows the last one. */
    if (lane == 31)
        totals.product[warp] = whole_warp.product, totals.sum[warp] = whole_warp.sum;
    if (lane == 0)
        first_y[warp] = y[0][0];
    const float initial_state = state_load(states.initial_state, blockIdx.x);
    __syncthreads();
    const struct pair up_to_warp = totals_scan(&totals, num_warps, lane);
    const float y_behind = warp + 1 < num_warps ? first_y[warp + 1] : 0.0f;
    const float into_warp = __shfl_sync(ALL_LANES, up_to_warp.sum, (warp + 31) % 32);
    if (warp == 0 && lane == num_warps - 1)
        leave_gradient(&states, up_to_warp.sum, blockIdx.x);

        /* 4. What comes in is added: x is d_inputs now. d_coeffs is that times the next output; the one after a lane's
       last is the next lane's first, or the first of the next row. */
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int at = own + r * PIPE_ROW, very_last = last - 1 - at;
        const float into = warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
        const bool nothing = threadIdx.x == 0 && r == 0; /* comes into the sequence's first group */
        const float next_row = r + 1 < rows ? y[r + 1][0] : y_behind;
        const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? next_row : y[r][0], (lane + 1) % 32);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[r][i] = nothing ? x[r][i] : into * c[r][i] + x[r][i];
            y[r][i] = i == very_last ? first_d_coeff(&states, initial_state, x[r][i])
                                     : (i < 3 ? y[r][i + 1] : y_next) * x[r][i];
        }
        if (is_whole(at, first, last)) {
            store4_unsplit<from_end>(d_inputs + origin, at, first, last, x[r]);
            store4_unsplit<from_end>(d_coeffs + origin, at, first, last, y[r]);
        } else {
            store4<from_end>(d_inputs + origin, at, first, last, x[r]);
            store4<from_end>(d_coeffs + origin, at, first, last, y[r]);
        }
    }
}

extern "C" cudaError_t backward_per_block(const struct linrec_args *args, cudaStream_t stream)
{
    const size_t elems = args->seq_len % 4 == 0 ? args->seq_len : args->seq_len + 3; /* and what is before its first */
    const int rows = elems <= 512 ? 1 : elems <= 8 * PIPE_MAX_THREADS ? 2 : 4;
    if (args->config.rows == 0 && args->seq_len <= BLOCK_MAX_LEN && elems > BLOCK_MAX_LEN)
        return backward_prefetch(args, stream); /* 8190 and 8191 may begin so late that they do not fit */
    const struct launch_config config = pipe_config(args, rows, PIPE_MAX_THREADS, 1);
    const cudaError_t error = backward_check(args, true, &config);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, true, stream);
    if (args->seq_len > BLOCK_MAX_LEN || elems > (size_t)4 * config.rows * config.threads)
        return cudaErrorInvalidValue;
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(size_t, const float *, const float *, const float *, float *, float *, struct states) =
        args->reverse ? (config.rows == 1   ? per_block_backward<1, 0>
                         : config.rows == 2 ? per_block_backward<2, 0>
                                            : per_block_backward<4, 0>)
                      : (config.rows == 1   ? per_block_backward<1, 1>
                         : config.rows == 2 ? per_block_backward<2, 1>
                                            : per_block_backward<4, 1>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, args->d_outputs, args->coeffs, args->outputs,
                              args->d_inputs, args->d_coeffs, states_of(args));
}
