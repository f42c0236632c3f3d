/* SPDX-License-Identifier: MIT */
/* flat.cu - short sequences: each warp works by itself, with no shared memory and no barrier. Unlike in prefetch.cu, a
   row of 32 float4 may hold several sequences side by side, or a part of one. They are scanned together but never
   joined: this is a segmented scan, in which no lane looks past the start of its sequence.

       seq_len 6      |a a a a|a a b b|b b b b|c c c c|c c d d|        groups of lanes 0, 1, 2, ...
       starts          ^           ^           ^           ^           in lanes 0, 1, 3, 4
       reach           0       0       1       0       0               lanes to the left that may be joined        */
#include <cuda_runtime.h>

#include "../04_warp_scan/warp_scan.cuh"
#include "../common/cuda/launch_of.h"
#include "groups.cuh"
#include "warps.h"

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

/* n modulo seq_len; a division only where one is needed. */
static __device__ __forceinline__ int wrap(int n, int seq_len)
{
    return n < seq_len ? n : n % seq_len;
}

/* Warp w computes sequences [w * seqs_per_warp, (w + 1) * seqs_per_warp), row after row of 128 elements. inputs,
   coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(PIPE_MAX_THREADS)
    flat_forward(size_t num_seqs, int seq_len, int seqs_per_warp, const float *__restrict__ inputs,
                 const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    /* [places] The warp's sequences, and where they lie. */
    const int lane = threadIdx.x % 32;
    const size_t seq = ((size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * seqs_per_warp;
    if (seq >= num_seqs)
        return;
    const int seqs = num_seqs - seq < (size_t)seqs_per_warp ? (int)(num_seqs - seq) : seqs_per_warp;
    const size_t begins = seq * seq_len, origin = begins & ~(size_t)3;
    const int begin = (int)(begins - origin), end = begin + seqs * seq_len;
    float x[4], c[4], next_x[4], next_c[4];
    float carry = 0.0f; /* what comes into the row; the first row begins with a start, which lets nothing in */

    load4(inputs + origin, lane * 4, begin, end, 0.0f, next_x);
    load4(coeffs + origin, lane * 4, begin, end, 1.0f, next_c);
    /* Where in its sequence the group begins. It may take a division, so it is computed while the first loads are on
       the way. Before the first sequence it is counted backwards from a start. */
    int position =
        lane * 4 >= begin ? wrap(lane * 4 - begin, seq_len) : seq_len - 1 - wrap(begin - 1 - lane * 4, seq_len);
    const int row_step = wrap(PIPE_ROW, seq_len);
    /* [rows] One row after the other. */
    for (int at = lane * 4; at - lane * 4 < end; at += PIPE_ROW) {
        /* 1. The row is there; the next one is prefetched. */
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = next_x[i], c[i] = next_c[i];
        load4(inputs + origin, at + PIPE_ROW, begin, end, 0.0f, next_x);
        load4(coeffs + origin, at + PIPE_ROW, begin, end, 1.0f, next_c);

        /* 2. Each thread scans its group; at each start in it the scan begins anew. */
        const int to_start = position == 0 ? 0 : seq_len - position;
        const int start = to_start < 4 ? to_start : 4;
        group_scan(start, seq_len, x, c);

        /* 3. The lanes. A lane reaches back to the last lane, itself included, that has a start in its group: what lies
           before belongs to another sequence. The carry is for the lanes before which no sequence starts in this
           row. */
        const unsigned starts = __ballot_sync(ALL_LANES, start < 4), lanes_before = (1u << lane) - 1;
        const unsigned up_to_lane = starts & (lanes_before | 1u << lane);
        const int reach = up_to_lane == 0 ? lane : lane - (31 - __clz((int)up_to_lane));
        const struct pair mine = {c[3], x[3]};
        const struct pair before = lane_before(warp_scan_segments(mine, reach), lane);
        const float into = (starts & lanes_before) == 0 ? carry * before.product + before.sum : before.sum;

        /* 4. What comes in is added, up to the group's first start. */
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = i < start ? into * c[i] + x[i] : x[i];
        carry = __shfl_sync(ALL_LANES, x[3], 31);
        store4(outputs + origin, at, begin, end, x);
        position = position + row_step < seq_len ? position + row_step : position + row_step - seq_len;
    }
}

extern "C" cudaError_t pipe_flat_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const struct launch_config config = {1, args->config.threads != 0 ? args->config.threads : 160, 1};
    const cudaError_t error = pipe_check(args, &config);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->seq_len > PIPE_FLAT_MAX_LEN)
        return cudaErrorInvalidValue;
    const int seqs_per_warp = pipe_flat_seqs(args->seq_len);
    const size_t seqs_per_block = (size_t)seqs_per_warp * (config.threads / 32);
    const cudaLaunchConfig_t launch =
        launch_of((unsigned)((args->num_seqs - 1) / seqs_per_block + 1), config.threads, 0, stream);
    return cudaLaunchKernelEx(&launch, flat_forward, args->num_seqs, (int)args->seq_len, seqs_per_warp, args->inputs,
                              args->coeffs, args->outputs);
}
