/* SPDX-License-Identifier: MIT */
/* gradient_sums.cuh - the three sums of fused_backward.cu, state_passing_backward.cu and checkpoints_backward.cu: over
   the states of a channel, which are lanes that differ in part (d_u, d_step, y); over the channels of a warp, for each
   state and step (d_B, d_C); and over time (d_A, d_D, d_bias). */
#ifndef GRADIENT_SUMS_CUH
#define GRADIENT_SUMS_CUH

#include "channel_pairs.cuh"
#include "lane_sums.cuh"
#include "workspace.h"

/* ---- Sums over the states of a channel: lanes that differ in part ---- */

/* The sum of this lane's value for its first channel, and its neighbour's for what is the second one there. */
template <int lanes>
static __device__ __forceinline__ float add_half(const float values[2])
{
    return values[0] + __shfl_xor_sync(0xFFFFFFFFu, values[1], lanes);
}

/* Adds up add_half's sums over the lanes that have the same first channel. Each is left with OWN_STEPS of them. */
template <int lanes>
static __device__ __forceinline__ void fold_states(float sums[STEPS], int part)
{
    fold<lanes / 2, STEPS>(sums, part);
}

/* ---- Sums over the channels of the warp, for each state and step. A lane's i-th state is (i ^ order) lanes + part,
   where `order` are two bits of its channel's number (2, 4 or 8 lanes). So the two states that a lane gives away are
   always its last ones, and those that its neighbour keeps. ---- */

/* The sum of values[0] and of all that belong to the same state, over four lanes. */
template <int lanes>
static __device__ __forceinline__ float add_channels(const float values[4])
{
    const float first = values[0] + __shfl_xor_sync(0xFFFFFFFFu, values[2], 16);
    const float second = values[1] + __shfl_xor_sync(0xFFFFFFFFu, values[3], 16);
    return first + __shfl_xor_sync(0xFFFFFFFFu, second, lanes == 8 ? 1 : 8);
}

/* Adds up add_channels' sums of all 8 steps over the lanes that are left. Each keeps `lanes` of them, those of its
   state 0 from step first_sum(lane) on. */
template <int lanes>
static __device__ __forceinline__ void fold_channels(float sums[STEPS], int lane)
{
    if (lanes < 8)
        fold_once<4>(sums, lane, 1);
    if (lanes < 4)
        fold_once<2>(sums, lane, 4);
}

template <int lanes>
static __device__ __forceinline__ int first_sum(int lane)
{
    return (lanes < 8 ? (lane & 1) * 4 : 0) + (lanes < 4 ? (lane & 4) / 2 : 0);
}

/* ---- Sums over time ---- */

/* The sums over time: one warp adds up those of all. */
template <int lanes>
static __device__ __forceinline__ void add_warps(const struct selective_args *args, const struct selective_parts *parts,
                                                 const struct pair_place *place, int warps, int stride,
                                                 const float *d_A_so_far, const float *so_far)
{
    float d_A[2][4] = {}, d_D = 0.0f, d_bias = 0.0f;
    for (int w = 0; w < warps; w++) {
        float more[2][4];
        get_states(d_A_so_far + w * stride, more);
#pragma unroll
        for (int k = 0; k < 2; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                d_A[k][i] += more[k][i];
        d_D += so_far[w * stride], d_bias += so_far[w * stride + 1];
    }
    for (int bit = 2; bit < lanes; bit *= 2) {
        d_D += __shfl_xor_sync(0xFFFFFFFFu, d_D, bit);
        d_bias += __shfl_xor_sync(0xFFFFFFFFu, d_bias, bit);
    }
    const size_t segment = blockIdx.y * args->batch * args->channels, at = segment + place->channels + place->row;
    store_pair<lanes>(args, place, d_A, parts->d_A + segment * args->states);
    if (place->row < place->here && place->part % (lanes / 2) == 0)
        parts->d_D[at] = d_D, parts->d_bias[at] = d_bias;
}

#endif
