/* SPDX-License-Identifier: MIT */
/* flat_backward.cu - both gradients of short sequences: flat.cu with the shifts of prefetch_backward.cu. */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../05_pipe/warps.h"
#include "../common/cuda/launch_of.h"
#include "gradients.h"
#include "direction.cuh"
#include "states.cuh"

/* The recurrence over a group as if nothing came before it, anew at each start of a sequence: `start` is the first
   one's place in the group, or 4 if there is none. From a start on the product c means nothing, and nobody uses it. A
   start selects and does not multiply by zero: 0 * NaN is NaN, and would leak from one sequence into the next. */
static __device__ __forceinline__ void group_scan(int start, int seq_len, float *x, float *c)
{
    const int again = seq_len < 4 ? seq_len : 4; /* tiny sequences: several starts in a group */
    int next = start == 0 ? again : start;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        const float y = x[i - 1] * c[i] + x[i];
        x[i] = i == next ? x[i] : y;
        next = i == next ? next + again : next;
        c[i] = c[i - 1] * c[i];
    }
}

/* Segmented scan over a warp: a lane joins `reach` lanes before it, and not more. */
static __device__ __forceinline__ struct pair warp_scan_segments(struct pair mine, int reach)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const struct pair before = pair_shfl_up(mine, d);
        if (reach >= d)
            mine = pair_join(before, mine);
    }
    return mine;
}

/* The number of the sequence to which element number n of the warp belongs. The warp has `count` elements, from
   sequence `seq` on. */
template <int from_end>
static __device__ __forceinline__ unsigned seq_of(int n, int count, int seq_len, unsigned seq)
{
    return seq + (from_end ? count - 1 - n : n) / seq_len;
}

/* Each sequence whose scan starts in the group, the first one at `start`, takes the gradient of its final state. The
   group begins with element number n of the warp's `count`. */
template <int from_end>
static __device__ __forceinline__ void enter_gradients(const float *d_final_state, int n, int count, int start,
                                                       int seq_len, unsigned seq, float *x)
{
    unsigned at = seq_of<from_end>(n + start, count, seq_len, seq);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i == start) {
            if (n + i >= 0 && n + i < count)
                x[i] += d_final_state[at];
            start += seq_len, at = from_end ? at - 1 : at + 1;
        }
}

/* Each sequence whose scan ends in the group, the first one at `last`: from its d_inputs x, its state and its first
   coefficient, which lie at `coeffs`, the group's origin, both gradients that the state is part of. */
template <int from_end>
static __device__ __forceinline__ void leave_gradients(const struct states *states, const float *coeffs, int n,
                                                       int count, int last, int seq_len, unsigned seq, const float *x,
                                                       float *d_coeffs)
{
    unsigned at = seq_of<from_end>(n + last, count, seq_len, seq);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i == last) {
            if (n + i >= 0 && n + i < count) {
                d_coeffs[i] = states->initial_state[at] * x[i];
                if (states->d_initial_state != NULL)
                    states->d_initial_state[at] = x[i] * coeffs[place<from_end>(i, 1)];
            }
            last += seq_len, at = from_end ? at - 1 : at + 1;
        }
}

/* n modulo seq_len; a division only where one is needed. */
static __device__ __forceinline__ int wrap(int n, int seq_len)
{
    return n < seq_len ? n : n % seq_len;
}

/* Warp w computes sequences [w * seqs_per_warp, (w + 1) * seqs_per_warp), row after row of 128 elements. All arrays:
 * (num_seqs, seq_len). `from_end`: the scan begins at the end, as after a forward pass. */
template <int from_end>
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    flat_backward(size_t num_seqs, int seq_len, int seqs_per_warp, const float *__restrict__ d_outputs,
                  const float *__restrict__ coeffs, const float *__restrict__ outputs, float *__restrict__ d_inputs,
                  float *__restrict__ d_coeffs, struct states states)
{
    const int lane = threadIdx.x % 32;
    const size_t seq = ((size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * seqs_per_warp;
    if (seq >= num_seqs)
        return;
    const int seqs = num_seqs - seq < (size_t)seqs_per_warp ? (int)(num_seqs - seq) : seqs_per_warp;
    const size_t begins = seq * seq_len, stops = begins + (size_t)seqs * seq_len;
    const size_t origin = origin_of<from_end>(begins, stops);
    const int begin = (int)(from_end ? origin - stops : begins - origin), end = begin + seqs * seq_len;
    float x[4], c[4], y[4], next_x[4], next_c[4], next_y[4];
    float carry = 0.0f; /* what comes into the row; the first row begins with a start, which lets nothing in */

    load4<from_end>(d_outputs + origin, lane * 4, begin, end, 0.0f, next_x);
    load4<from_end>(coeffs + origin, lane * 4, begin, end, 1.0f, next_c);
    load4<from_end>(outputs + origin, lane * 4, begin, end, 0.0f, next_y);
    /* Where in its sequence the group begins. It may take a division, so it is computed while the first loads are on
       the way. Before the first sequence it is counted backwards from a start. */
    int position =
        lane * 4 >= begin ? wrap(lane * 4 - begin, seq_len) : seq_len - 1 - wrap(begin - 1 - lane * 4, seq_len);
    const int row_step = wrap(PIPE_ROW, seq_len);
    for (int at = lane * 4; at - lane * 4 < end; at += PIPE_ROW) {
        /* 1. The row is there; the next one is loaded. */
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = next_x[i], c[i] = next_c[i], y[i] = next_y[i];
        load4<from_end>(d_outputs + origin, at + PIPE_ROW, begin, end, 0.0f, next_x);
        load4<from_end>(coeffs + origin, at + PIPE_ROW, begin, end, 1.0f, next_c);
        load4<from_end>(outputs + origin, at + PIPE_ROW, begin, end, 0.0f, next_y);

        /* 2. The thread in its group, from the group's first start on anew. */
        const int to_start = position == 0 ? 0 : seq_len - position;
        const int start = to_start < 4 ? to_start : 4;
        if (states.d_final_state != NULL && start < 4)
            enter_gradients<from_end>(states.d_final_state, at - begin, end - begin, start, seq_len, seq, x);
        const float left_over = c[3]; /* the coefficients move on by one */
        c[3] = c[2], c[2] = c[1], c[1] = c[0], c[0] = 1.0f;
        group_scan(start, seq_len, x, c);

        /* 3. The lanes. A lane reaches back to the last one, itself included, with a start in its group; that lane's
           sum is what its sequence has come to since. The carry reaches the lanes before which nothing started in this
           row. */
        const unsigned starts = __ballot_sync(ALL_LANES, start < 4), lanes_before = (1u << lane) - 1;
        const unsigned up_to_lane = starts & (lanes_before | 1u << lane);
        const int reach = up_to_lane == 0 ? lane : lane - (31 - __clz((int)up_to_lane));
        const struct pair mine = {c[3] * left_over, x[3] * left_over};
        const struct pair before = lane_before(warp_scan_segments(mine, reach), lane);
        const float into = (starts & lanes_before) == 0 ? carry * before.product + before.sum : before.sum;

        /* 4. What comes in is added, up to the group's first start. */
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = i < start ? into * c[i] + x[i] : x[i];
        carry = __shfl_sync(ALL_LANES, x[3] * left_over, 31);
        store4_unsplit<from_end>(d_inputs + origin, at, begin, end, x);

        /* 5. And d_coeffs, with the outputs one element further on; 0 at the last element of each sequence. */
        const float y_next = __shfl_sync(ALL_LANES, lane == 0 ? next_y[0] : y[0], (lane + 1) % 32);
        int very_last = seq_len - 1 - position; /* of a sequence, in the group; there may be several */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            y[i] = i == very_last ? 0.0f : (i < 3 ? y[i + 1] : y_next) * x[i];
            very_last = i == very_last ? very_last + seq_len : very_last;
        }
        if (states.initial_state != NULL)
            leave_gradients<from_end>(&states, coeffs + origin + place<from_end>(at, 0), at - begin, end - begin,
                                      seq_len - 1 - position, seq_len, seq, x, y);
        store4_unsplit<from_end>(d_coeffs + origin, at, begin, end, y);
        position = position + row_step < seq_len ? position + row_step : position + row_step - seq_len;
    }
}

extern "C" cudaError_t backward_flat(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = {1, args->config.threads != 0 ? args->config.threads : 128, 1};
    const cudaError_t error = backward_check(args, true, &config);
    if (error != cudaSuccess)
        return error;
    if (args->num_seqs == 0 || args->seq_len == 0)
        return linrec_finish_empty(args, true, stream);
    if (args->seq_len > PIPE_FLAT_MAX_LEN)
        return cudaErrorInvalidValue;
    const int seqs_per_warp = pipe_flat_seqs(args->seq_len);
    const size_t seqs_per_block = (size_t)seqs_per_warp * (config.threads / 32);
    /* the gradients of a forward pass are a reversed scan */
    void (*const kernel)(size_t, int, int, const float *, const float *, const float *, float *, float *,
                         struct states) = args->reverse ? flat_backward<0> : flat_backward<1>;
    const cudaLaunchConfig_t launch =
        launch_of((unsigned)((args->num_seqs - 1) / seqs_per_block + 1), config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->num_seqs, (int)args->seq_len, seqs_per_warp, args->d_outputs,
                              args->coeffs, args->outputs, args->d_inputs, args->d_coeffs, states_of(args));
}
