/* SPDX-License-Identifier: MIT */
/* 05.7  Beat float4 in 100 lines

   flat, but a warp takes so many sequences that its piece of the arrays begins and ends with a sector: 8 elements are a
   sector, so 8 sequences of any length do. Long sequences it takes one by one: their edges cost little, and eight of
   them would keep one warp busy for long. */
#include <cuda_runtime.h>

#include "../../../04_warp_scan/warp_scan.cuh"
#include "groups.cuh"

enum { WARPS = 4, ROW = 128, LONG = 2048 };

/* The group's own scan: it begins anew at `start` (4: nowhere), and every seq_len elements after it. */
static __device__ __forceinline__ void group_scan(int start, int seq_len, float *x, float *c)
{
    int next = start == 0 ? seq_len : start;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        const float y = x[i - 1] * c[i] + x[i];
        x[i] = i == next ? x[i] : y;
        next = i == next ? next + seq_len : next;
        c[i] = c[i - 1] * c[i];
    }
}

/* Warp w computes sequences w * seqs_per_warp and those behind it. inputs, coeffs, outputs: (num_seqs, seq_len). */
static __global__ void __launch_bounds__(WARPS * 32)
    fewer(int num_seqs, int seq_len, int seqs_per_warp, const float *__restrict__ inputs,
          const float *__restrict__ coeffs, float *__restrict__ outputs)
{
    const int lane = threadIdx.x % 32;
    const int seq = ((int)blockIdx.x * WARPS + (int)threadIdx.x / 32) * seqs_per_warp;
    if (seq >= num_seqs)
        return;
    const int seqs = num_seqs - seq < seqs_per_warp ? num_seqs - seq : seqs_per_warp;
    const size_t begins = (size_t)seq * seq_len, origin = begins & ~(size_t)7; /* where a sector begins */
    const int begin = (int)(begins - origin), end = begin + seqs * seq_len;
    float x[4], c[4], carry = 0.0f;

    for (int row = 0; row < end; row += ROW) {
        const int at = row + lane * 4;
        load4(inputs + origin, at, begin, end, 0.0f, x);
        load4(coeffs + origin, at, begin, end, 1.0f, c);

        /* where the first sequence starts in this group, if one does: also in the one that begins with the piece */
        const int since = at - begin; /* elements since a start */
        const int to_start = since <= 0 ? -since : (seq_len - since % seq_len) % seq_len;
        const int start = to_start < 4 && at + to_start < end ? to_start : 4;
        group_scan(start, seq_len, x, c);

        /* the lanes: none reaches back past the last one with a start in it, itself included */
        const unsigned starts = __ballot_sync(ALL_LANES, start < 4), lanes_before = (1u << lane) - 1;
        const unsigned up_to_lane = starts & (lanes_before | 1u << lane);
        const int reach = up_to_lane == 0 ? lane : lane - (31 - __clz((int)up_to_lane));
        struct pair mine = {c[3], x[3]};
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const struct pair other = pair_shfl_up(mine, d);
            if (reach >= d)
                mine = pair_join(other, mine);
        }
        const struct pair before = lane_before(mine, lane);
        const float into = (starts & lanes_before) == 0 ? carry * before.product + before.sum : before.sum;

#pragma unroll
        for (int i = 0; i < 4; i++) /* what comes in is added, up to the group's first start */
            x[i] = i < start ? into * c[i] + x[i] : x[i];
        carry = __shfl_sync(ALL_LANES, x[3], 31);
        store4(outputs + origin, at, begin, end, x);
    }
}

extern "C" cudaError_t launch_fewer(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs)
{
    if (num_seqs == 0 || seq_len == 0)
        return cudaSuccess;
    const int whole = seq_len >= LONG ? 1 : seq_len % 8 == 0 ? 1 : 8; /* so many fill whole sectors */
    const int fill = (ROW / seq_len + whole - 1) / whole * whole;     /* and these a row as well */
    const int seqs_per_warp = fill > whole ? fill : whole;
    const int warps = (num_seqs + seqs_per_warp - 1) / seqs_per_warp;
    fewer<<<(warps + WARPS - 1) / WARPS, WARPS * 32>>>(num_seqs, seq_len, seqs_per_warp, inputs, coeffs, outputs);
    return cudaGetLastError();
}
