/* SPDX-License-Identifier: MIT */
/* split.cuh - the common part of split.cu and split_backward.cu, which spread the chunks of a slice over the blocks of
   a cluster. A segment is a few tiles in a row, which wait in the stages of one block; the segments of all blocks of
   the cluster are a window. Tiles are counted as they come: forward from the first chunk, backward from the last one.
   */
#ifndef SPLIT_CUH
#define SPLIT_CUH

#include "../../common/cuda/cluster.h"
#include "tma_tile.cuh"

enum { SPLIT_MAX_SEGMENTS = 8 };

struct split_plan {
    struct tma_plan tma;
    unsigned segments, windows;
    unsigned each; /* tiles of a segment */
};

/* Bytes of shared memory of a thread: two windows' pairs, of the columns that it has and of their decays. */
static size_t split_pair_bytes(enum dtype dtype)
{
    return 2 * (16 / dtype_bytes(dtype) + 1) * sizeof(float);
}

/* Adds windows and segments to plan->tma, which tma_plan_of has found; a tile has so many steps. */
static cudaError_t split_plan(const struct chunk_state_args *args, size_t steps, struct split_plan *plan)
{
    if (plan->tma.threads > TMA_SPLIT_MAX_THREADS || plan->tma.items > 0x7FFFFFFF / SPLIT_MAX_SEGMENTS)
        return cudaErrorInvalidValue;
    const size_t tiles = (args->chunks - 1) / steps + 1, stages = (size_t)plan->tma.stages;
    const size_t segments = tiles < SPLIT_MAX_SEGMENTS ? tiles : (size_t)SPLIT_MAX_SEGMENTS;

    /* one window, if the stages hold all; else a stage takes what comes next */
    const size_t most = tiles <= segments * stages ? stages : stages - 1;
    const size_t windows = (tiles - 1) / (segments * most) + 1;
    if (windows > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    plan->segments = (unsigned)segments;
    plan->windows = (unsigned)windows;
    plan->each = (unsigned)((tiles - 1) / (segments * windows) + 1);
    return cudaSuccess;
}

/* A launch in clusters of plan->segments blocks. *cluster must live as long as what it returns. */
static cudaLaunchConfig_t split_launch(const struct split_plan *plan, cudaLaunchAttribute *cluster, cudaStream_t stream)
{
    cluster->id = cudaLaunchAttributeClusterDimension;
    cluster->val.clusterDim.x = plan->segments;
    cluster->val.clusterDim.y = cluster->val.clusterDim.z = 1;
    const cudaLaunchConfig_t launch = {
        plan->tma.items * plan->segments, (unsigned)plan->tma.threads, plan->tma.shared, stream, cluster, 1};
    return launch;
}

/* Where a block is on its way through its segments. */
struct split_position {
    size_t tile;
    unsigned left; /* tiles from here to the segment's end */
    int stage, parity;
};

/* Goes to the block's next tile, which may be in the next window, and past the last one. */
static __device__ __forceinline__ void split_advance(struct split_position *at, const struct split_plan *plan)
{
    at->tile++;
    if (--at->left == 0)
        at->left = plan->each, at->tile += (size_t)(plan->segments - 1) * plan->each;
    if (++at->stage == plan->tma.stages)
        at->stage = 0, at->parity ^= 1;
}

/* If h comes into the block's segment, factor h + sum goes out. Tells the cluster this pair of the thread's columns,
   joins those of the segments before the own one in their order, and leaves in h what comes into the own segment. No
   segment of the window comes after the last one, so nobody needs its pair: in that place its block tells what comes
   into the window, its h, which has come out of the window before. Two windows' pairs are there at once, because a
   block may be one window ahead of another; it cannot be two. */
template <int dtype>
static __device__ __forceinline__ void split_join(const struct split_plan *plan, float4 *sums, unsigned segment,
                                                  unsigned buffer, float factor, const float *sum, float *h)
{
    const unsigned last = plan->segments - 1, at = buffer * OWN(dtype) / 4 * blockDim.x + threadIdx.x;
    float *const factors = (float *)(sums + OWN(dtype) / 2 * blockDim.x) + buffer * blockDim.x + threadIdx.x;
    float4 pairs[SPLIT_MAX_SEGMENTS][OWN(dtype) / 4];
    float times[SPLIT_MAX_SEGMENTS];
#pragma unroll
    for (int c = 0; c < OWN(dtype); c += 4)
        sums[at + c / 4 * blockDim.x] = segment == last ? make_float4(h[c], h[c + 1], h[c + 2], h[c + 3])
                                                        : make_float4(sum[c], sum[c + 1], sum[c + 2], sum[c + 3]);
    *factors = factor;
    cluster_arrive();
    cluster_wait();
    /* Number 0 is what comes into the window. All are asked for before the first is used. */
#pragma unroll
    for (unsigned s = 0; s < SPLIT_MAX_SEGMENTS; s++) {
        if (s > segment)
            break;
        const unsigned from = s == 0 ? last : s - 1;
        times[s] = *(const float *)cluster_shared(factors, from);
#pragma unroll
        for (int c = 0; c < OWN(dtype); c += 4)
            pairs[s][c / 4] = *(const float4 *)cluster_shared(&sums[at + c / 4 * blockDim.x], from);
    }
#pragma unroll
    for (unsigned s = 0; s < SPLIT_MAX_SEGMENTS; s++) {
        if (s > segment)
            break;
#pragma unroll
        for (int c = 0; c < OWN(dtype); c += 4) {
            const float4 pair = pairs[s][c / 4];
            if (s == 0)
                h[c] = pair.x, h[c + 1] = pair.y, h[c + 2] = pair.z, h[c + 3] = pair.w;
            else
                h[c] = times[s] * h[c] + pair.x, h[c + 1] = times[s] * h[c + 1] + pair.y,
                h[c + 2] = times[s] * h[c + 2] + pair.z, h[c + 3] = times[s] * h[c + 3] + pair.w;
        }
    }
}

#endif
