/* SPDX-License-Identifier: MIT */
/* prefetch_backward.cu - both gradients in one kernel, two_pass.cu's two kernels fused: the outputs are loaded with the
   rest of the tile, and d_coeffs is computed while d_inputs is still in registers. Elements are counted in the order of
   the scan.

       group of a lane     s            s+1          s+2          s+3
       d_inputs            into + dy    * c[s]  + dy * c[s+1]+ dy * c[s+2]+ dy      * c[s+3] = into of the next group
       d_coeffs            * y[s+1]     * y[s+2]     * y[s+3]     * y[s+4]          the first y of the next group

   The coefficient comes from one element before, as in two_pass.cu. The output comes from one element after: from the
   same lane, from the next lane by a shuffle, and for the last lane of a warp from memory. */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "gradients.h"
#include "direction.cuh"
#include "states.cuh"

/* Block s computes the gradients of sequence s; `from_end`: the scan begins at the end, as after a forward pass. All
   arrays: (num_seqs, seq_len). */
template <int rows, int from_end>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    prefetch_backward(size_t seq_len, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
                      const float *__restrict__ outputs, float *__restrict__ d_inputs, float *__restrict__ d_coeffs,
                      struct states states)
{
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * rows * PIPE_ROW + lane * 4; /* the thread's first element in a tile; in row r, r rows on */
    const int tile_len = num_warps * rows * PIPE_ROW;
    const size_t start = blockIdx.x * seq_len, stop = start + seq_len, origin = origin_of<from_end>(start, stop);
    const int begin = (int)(from_end ? origin - stop : start - origin);
    const size_t end = begin + seq_len;
    float x[rows][4], c[rows][4], y[rows][4], next_x[rows][4], next_c[rows][4], next_y[rows][4];
    float carry = 0.0f; /* what comes into the tile: the same number in every thread */
    int turn = 0;       /* which of the totals */
    state_prefetch(states.initial_state, blockIdx.x);

#pragma unroll
    for (int r = 0; r < rows; r++) {
        load4<from_end>(d_outputs + origin, own + r * PIPE_ROW, begin, elems_left(0, end, tile_len), 0.0f, next_x[r]);
        load4<from_end>(coeffs + origin, own + r * PIPE_ROW, begin, elems_left(0, end, tile_len), 1.0f, next_c[r]);
        load4<from_end>(outputs + origin, own + r * PIPE_ROW, begin, elems_left(0, end, tile_len), 0.0f, next_y[r]);
    }
    for (size_t base = 0; base < end; base += tile_len) {
        const int first = base == 0 ? begin : 0, last = elems_left(base, end, tile_len);
        const size_t tile = tile_at<from_end>(origin, base); /* its origin in the arrays */

        /* 1. The tile is there; the next one is prefetched. */
        const size_t next = base + tile_len;
        const int next_last = elems_left(next, end, tile_len);
        const size_t next_tile = tile_at<from_end>(origin, next);
#pragma unroll
        for (int r = 0; r < rows; r++) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = next_x[r][i], c[r][i] = next_c[r][i], y[r][i] = next_y[r][i];
            load4<from_end>(d_outputs + next_tile, own + r * PIPE_ROW, 0, next_last, 0.0f, next_x[r]);
            load4<from_end>(coeffs + next_tile, own + r * PIPE_ROW, 0, next_last, 1.0f, next_c[r]);
            load4<from_end>(outputs + next_tile, own + r * PIPE_ROW, 0, next_last, 0.0f, next_y[r]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (base == 0 && own + i == begin)
                enter_gradient(&states, blockIdx.x, &x[0][i]);

        /* [behind] The first output after the warp's rows: lane 0 loads it and hands it to lane 31 in step 4. */
        const int behind = (warp + 1) * rows * PIPE_ROW;
        const float y_behind = lane == 0 && base + behind < end ? outputs[tile + place<from_end>(behind, 1)] : 0.0f;

        /* [scan] 2. A group's coefficients move on by one; the last one only scales what leaves the group. The rest is
           as in prefetch.cu. */
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
        const float initial_state = base + last == end ? state_load(states.initial_state, blockIdx.x) : 0.0f;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* [finish] 4. What comes in is added: x is d_inputs now. d_coeffs is that times the next output; the one after
           a lane's last is the next lane's first, or the first of the next row. */
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
                y[r][i] = i == very_last ? 0.0f : (i < 3 ? y[r][i + 1] : y_next) * x[r][i];
            }
            /* [state] Where the sequence went on from a state, its first coefficient was multiplied by that. */
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (i == very_last && states.initial_state != NULL)
                    y[r][i] = initial_state * x[r][i];
            /* [store] 5. Both are stored. */
            store4<from_end>(d_inputs + tile, own + r * PIPE_ROW, first, last, x[r]);
            store4<from_end>(d_coeffs + tile, own + r * PIPE_ROW, first, last, y[r]);
        }
    }
    /* [leave] What the scan hands on from its last element is the gradient of the initial state. */
    if (threadIdx.x == 0)
        leave_gradient(&states, carry, blockIdx.x);
}

extern "C" cudaError_t backward_prefetch(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, 2, 128, 1);
    const cudaError_t error = config.rows > 2 ? cudaErrorInvalidValue : backward_check(args, true, &config);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, true, stream);
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(size_t, const float *, const float *, const float *, float *, float *, struct states) =
        args->reverse ? (config.rows == 1 ? prefetch_backward<1, 0> : prefetch_backward<2, 0>)
                      : (config.rows == 1 ? prefetch_backward<1, 1> : prefetch_backward<2, 1>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)args->num_seqs, config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->seq_len, args->d_outputs, args->coeffs, args->outputs,
                              args->d_inputs, args->d_coeffs, states_of(args));
}
