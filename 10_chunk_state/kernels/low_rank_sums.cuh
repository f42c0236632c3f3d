/* SPDX-License-Identifier: MIT */
/* low_rank_sums.cuh - the summing warps of low_rank_backward.cu. They add up over the block's columns, from what the
   consumers have left in the stage. Two lanes have a row, with 16 columns each:

       lane 0   |....    ....    ....    ....    |     d_gamma = sum of d_h h
       lane 1   |    ....    ....    ....    ....|     d_W = -sum of d_h p'
       row 1    |....    ....    ....    ....    |     d_Y = -sum of h q'
       ...

   h and d_h of them are in registers. For four ranks at a time a lane has eight sums of its columns: one of the two
   gives those of d_W away and keeps those of d_Y, the other one does the opposite. */
#ifndef LOW_RANK_SUMS_CUH
#define LOW_RANK_SUMS_CUH

#include "low_rank_backward_copy.cuh"
#include "low_rank_sums.h"

enum { OF_LANE = BLOCK_COLUMNS / 2 }; /* columns */

/* A lane's columns of a row: every other four. */
template <int type>
static __device__ __forceinline__ void read_row(const char *row, int side, float x[OF_LANE])
{
#pragma unroll
    for (int v = 0; v < OF_LANE; v += 4)
        read4<type>(row, 2 * v + side * 4, x + v);
}

/* The same of a rank of p or q, where each 8 columns have all ranks. */
static __device__ __forceinline__ void read_rank(const char *p, int rank, int padded, int side, float x[OF_LANE])
{
#pragma unroll
    for (int v = 0; v < OF_LANE; v += 4)
        read4<FLOAT32>(p, (v / 4 * padded + rank) * COLUMN_LANES * 2 + side * 4, x + v);
}

/* Four neighbours, as far as there are so many ranks, negated. */
static __device__ __forceinline__ void write_ranks(float *to, const float sum[4], int rank, int all)
{
    if (all % 4 == 0 && rank < all)
        *(float4 *)(to + rank) = make_float4(-sum[0], -sum[1], -sum[2], -sum[3]);
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (all % 4 != 0 && rank + c < all)
            to[rank + c] = -sum[c];
}

/* One row of a chunk; all lanes of a warp call together. to: the row of d_W or, for the other lane, of d_Y. Returns its
   d_gamma. */
template <int dtype>
static __device__ __forceinline__ float sum_row(const struct low_rank_plan *plan, const char *stage, int row,
                                                int stride, float *to)
{
    const int side = threadIdx.x % 2, padded = plan->padded, bytes = (int)element_bytes(dtype);
    const struct low_rank_back_stage in = low_rank_back_stage_of<dtype>(plan);
    float h[OF_LANE], d[OF_LANE], x[OF_LANE], of_gamma = 0.0f;
    read_row<FLOAT32>(stage + in.d + row * stride * 4, side, d);
    read_row<dtype>(stage + in.h + row * stride * bytes, side, h);
#pragma unroll
    for (int v = 0; v < OF_LANE; v++)
        of_gamma += d[v] * h[v];
#pragma unroll 1
    for (int rank = 0; rank < padded; rank += 4) {
        float of_w[4] = {}, of_y[4] = {};
#pragma unroll
        for (int r = 0; r < 4; r++) {
            read_rank(stage + in.p, rank + r, padded, side, x);
#pragma unroll
            for (int v = 0; v < OF_LANE; v++)
                of_w[r] += d[v] * x[v];
            read_rank(stage + in.q, rank + r, padded, side, x);
#pragma unroll
            for (int v = 0; v < OF_LANE; v++)
                of_y[r] += h[v] * x[v];
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const float given = side ? of_w[r] : of_y[r], kept = side ? of_y[r] : of_w[r];
            of_w[r] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, 1);
        }
        if (row < plan->dk)
            write_ranks(to, of_w, rank, plan->rank);
    }
    return of_gamma + __shfl_xor_sync(0xFFFFFFFFu, of_gamma, 1);
}

/* All chunks. parts: of the block's columns. */
template <int dtype>
static __device__ __forceinline__ void low_rank_back_sum(const struct low_rank_plan *plan, struct low_rank_block block,
                                                         char *memory, int stride, struct part_counts counts,
                                                         float *parts)
{
    __shared__ float of_warps[LOW_RANK_SUMMING / 32];
    const int lane = threadIdx.x % 32, first = (threadIdx.x - LOW_RANK_CONSUMERS) / 2;
    const bool single_stage = plan->stages == 1;
    struct stages stages = stages_of(plan, memory);
    if (!single_stage)
        barrier_all<LOW_RANK_BACK_THREADS>();
    for (size_t k = block.chunks; k-- > 0; stages_next(&stages)) {
        const size_t chunk = block.zero + k * plan->heads;
        float *const of_gamma = parts + 2 * counts.ranks + chunk * plan->decays;
        float all = 0.0f;
        if (single_stage)
            barrier_all<LOW_RANK_BACK_THREADS>();
        barrier_all<LOW_RANK_BACK_THREADS>();
#pragma unroll 1
        for (int base = 0; base < plan->dk; base += LOW_RANK_SUMMING / 2) {
            const int row = base + first;
            float *const to = parts + (lane % 2) * counts.ranks + (chunk * plan->dk + row) * plan->rank;
            const float sum = sum_row<dtype>(plan, stages.current, row, stride, to);
            if (plan->decays != 1 && lane % 2 == 0 && row < plan->dk)
                of_gamma[row] = sum;
            all += row < plan->dk ? sum : 0.0f;
        }
        if (plan->decays == 1) { /* over the rows, too */
            for (int apart = 16; apart > 1; apart /= 2)
                all += __shfl_xor_sync(0xFFFFFFFFu, all, apart);
            if (lane == 0)
                of_warps[threadIdx.x / 32 - LOW_RANK_CONSUMERS / 32] = all;
            named_barrier_sync(2, LOW_RANK_SUMMING);
            if (threadIdx.x == LOW_RANK_CONSUMERS)
                *of_gamma = of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3];
        }
        if (single_stage)
            barrier_all<LOW_RANK_BACK_THREADS>();
    }
    if (!single_stage)
        barrier_all<LOW_RANK_BACK_THREADS>();
}

#endif
