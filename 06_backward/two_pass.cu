/* SPDX-License-Identifier: MIT */
/* two_pass.cu - the gradients as the textbook has them: d_inputs is a scan of prefetch.cu against the direction of the
   pass, and a second kernel multiplies it with the outputs. Counting elements in the order of the scan, either way

       dx[s] = dx[s-1] * c[s-1] + dy[s],   dc[s] = y[s+1] * dx[s]       dy = d_outputs, dx = d_inputs, dc = d_coeffs

   The coefficient comes from one element before, and is not loaded again: a group hands on dx[s+3] * c[s+3].

       group of a lane     s            s+1              s+2              s+3
       dx                  into + dy    * c[s] + dy      * c[s+1] + dy    * c[s+2] + dy      * c[s+3] = into of the
   next */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "gradients.h"
#include "direction.cuh"

enum { ROWS = 2, MAX_THREADS = 256 };

/* Block s computes d_inputs of sequence s; `from_end`: the scan begins at the end, as after a forward pass. All
   arrays: (num_seqs, seq_len). */
template <int from_end>
static __global__ void __launch_bounds__(MAX_THREADS)
    d_inputs_only(size_t seq_len, const float *__restrict__ d_outputs, const float *__restrict__ coeffs,
                  float *__restrict__ d_inputs)
{
    __shared__ struct warp_totals totals[2]; /* of this tile, and of the one before, which some warp may still read */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    const int own = warp * ROWS * PIPE_ROW + lane * 4; /* the thread's first element in a tile; in row r, r rows on */
    const int tile_len = num_warps * ROWS * PIPE_ROW;
    const size_t start = blockIdx.x * seq_len, stop = start + seq_len, origin = origin_of<from_end>(start, stop);
    const int begin = (int)(from_end ? origin - stop : start - origin);
    const size_t end = begin + seq_len;
    float x[ROWS][4], c[ROWS][4], next_x[ROWS][4], next_c[ROWS][4];
    float carry = 0.0f; /* what comes into the tile: the same number in every thread */
    int turn = 0;       /* which of the totals */

#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        load4<from_end>(d_outputs + origin, own + r * PIPE_ROW, begin, elems_left(0, end, tile_len), 0.0f, next_x[r]);
        load4<from_end>(coeffs + origin, own + r * PIPE_ROW, begin, elems_left(0, end, tile_len), 1.0f, next_c[r]);
    }
    for (size_t base = 0; base < end; base += tile_len) {
        const int first = base == 0 ? begin : 0, last = elems_left(base, end, tile_len);
        const size_t tile = tile_at<from_end>(origin, base); /* its origin in the arrays */

        /* 1. The tile is there; the next one is prefetched. */
        const size_t next = base + tile_len;
        const int next_last = elems_left(next, end, tile_len);
        const size_t next_tile = tile_at<from_end>(origin, next);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = next_x[r][i], c[r][i] = next_c[r][i];
            load4<from_end>(d_outputs + next_tile, own + r * PIPE_ROW, 0, next_last, 0.0f, next_x[r]);
            load4<from_end>(coeffs + next_tile, own + r * PIPE_ROW, 0, next_last, 1.0f, next_c[r]);
        }

        /* [scan] 2. A group's coefficients move on by one; the last one only scales what leaves the group. The rest is
           as in prefetch.cu. */
        struct pair before[ROWS], whole_warp;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
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

        /* [carry] 3. The warps of the block, and the carry: lane w computes what leaves warp w. */
        if (lane == 31)
            totals[turn].product[warp] = whole_warp.product, totals[turn].sum[warp] = whole_warp.sum;
        __syncthreads();
        const struct pair up_to_warp = totals_scan(&totals[turn], num_warps, lane);
        const float leaves = base == 0 ? up_to_warp.sum : carry * up_to_warp.product + up_to_warp.sum;
        const float into_warp = warp == 0 ? carry : __shfl_sync(ALL_LANES, leaves, warp - 1);
        carry = __shfl_sync(ALL_LANES, leaves, num_warps - 1);
        turn ^= 1;

        /* 4. What comes in is added: x is d_inputs now. */
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float into = base == 0 && warp == 0 ? before[r].sum : into_warp * before[r].product + before[r].sum;
            const bool nothing = base == 0 && threadIdx.x == 0 && r == 0; /* comes into the sequence's first group */
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = nothing ? x[r][i] : into * c[r][i] + x[r][i];
            store4<from_end>(d_inputs + tile, own + r * PIPE_ROW, first, last, x[r]);
        }
    }
}

/* d_coeffs for all `count` elements of all sequences, as they lie in memory: d_inputs times the output that came before
   in the pass, 0 at a sequence's first element. A thread has a group of four; the output beside it is a neighbour
   lane's, or from memory. `from_end`: after a forward pass, whose gradients are scanned from the end. */
template <int from_end>
static __global__ void __launch_bounds__(MAX_THREADS)
    d_coeffs_only(size_t count, size_t seq_len, const float *__restrict__ outputs, const float *__restrict__ d_inputs,
                  float *__restrict__ d_coeffs)
{
    const int lane = threadIdx.x % 32;
    const size_t at = ((size_t)blockIdx.x * MAX_THREADS + threadIdx.x) * 4;
    const int left = elems_left(at, count, 4); /* in the group */
    float x[4], y[4], product[4];
    load4<0>(d_inputs + at, 0, 0, left, 0.0f, x);
    load4<0>(outputs + at, 0, 0, left, 0.0f, y);
    size_t pos = at % seq_len; /* in its sequence */

    /* the output beside the group: a neighbour lane's, or for the lane at the warp's edge from memory */
    float beside = __shfl_sync(ALL_LANES, from_end ? y[3] : y[0], (lane + (from_end ? 31 : 1)) % 32);
    if (lane == (from_end ? 0 : 31) && (from_end ? at > 0 && at < count : at + 4 < count))
        beside = outputs[from_end ? at - 1 : at + 4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float y_beside = from_end ? (i > 0 ? y[i - 1] : beside) : (i < 3 ? y[i + 1] : beside);
        product[i] = pos == (from_end ? 0 : seq_len - 1) ? 0.0f : y_beside * x[i];
        pos = pos + 1 == seq_len ? 0 : pos + 1;
    }
    store4<0>(d_coeffs + at, 0, 0, left, product);
}

extern "C" cudaError_t backward_two_pass(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = pipe_config(args, ROWS, MAX_THREADS, 1);
    cudaError_t error = linrec_has_states(args) ? cudaErrorInvalidValue : backward_check(args, true, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    /* the gradients of a forward pass are a reversed scan */
    void (*const scan)(size_t, const float *, const float *, float *) =
        args->reverse ? d_inputs_only<0> : d_inputs_only<1>;
    void (*const multiply)(size_t, size_t, const float *, const float *, float *) =
        args->reverse ? d_coeffs_only<0> : d_coeffs_only<1>;
    const size_t count = args->num_seqs * args->seq_len, blocks = (count - 1) / (4 * MAX_THREADS) + 1;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t scans = launch_of((unsigned)args->num_seqs, config.threads, 0, stream);
    error = cudaLaunchKernelEx(&scans, scan, args->seq_len, args->d_outputs, args->coeffs, args->d_inputs);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t multiplies = launch_of((unsigned)blocks, MAX_THREADS, 0, stream);
    return cudaLaunchKernelEx(&multiplies, multiply, count, args->seq_len, args->outputs, args->d_inputs,
                              args->d_coeffs);
}
