/* SPDX-License-Identifier: MIT */
/* split.cuh - the common part of split.cu and split_backward.cu, which spread the chunks of a slice over the blocks of
   a cluster. A segment is a few tiles in a row, which wait in the stages of one block; the segments of all blocks of
   the cluster are a window. Tiles are counted as they come: forward from the first chunk, backward from the last one.
   */
#ifndef SPLIT_CUH
#define SPLIT_CUH

#include "../../common/cuda/cluster.h"
#include "tma_tile.cuh"

enum { SPLIT_MAX_SEGMENTS = 8, SPLIT_MAX_THREADS = 256 };

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

/* What tma_plan_of has found, for so many steps of a tile, spread over clusters. */
static cudaError_t split_plan(const struct chunk_state_args *args, size_t steps, struct split_plan *plan)
{
    if (plan->tma.threads > SPLIT_MAX_THREADS || plan->tma.items > 0x7FFFFFFF / SPLIT_MAX_SEGMENTS)
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

/* A launch whose blocks are clusters of plan->segments. *cluster must live as long as what it returns. */
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

/* What goes through a segment if nothing comes in is h; what comes in is multiplied by `factor`. Tells the cluster this
   pair of the thread's columns, joins all blocks' pairs in their order, and leaves in h what comes into the block's own
   segment, and in state, where what comes into the window was, what comes into the next one. Two windows' pairs are
   there at once, because a block may be one window ahead of another; it cannot be two. */
template <int dtype>
static __device__ __forceinline__ void split_join(const struct split_plan *plan, float4 *sums, unsigned segment,
                                                  unsigned buffer, float factor, float *h, float *state)
{
    float *const factors = (float *)(sums + OWN(dtype) / 2 * blockDim.x);
#pragma unroll
    for (int c = 0; c < OWN(dtype); c += 4)
        sums[(buffer * OWN(dtype) + c) / 4 * blockDim.x + threadIdx.x] =
            make_float4(h[c], h[c + 1], h[c + 2], h[c + 3]);
    factors[buffer * blockDim.x + threadIdx.x] = factor;
    cluster_arrive();
    cluster_wait();
#pragma unroll 4
    for (unsigned s = 0; s < plan->segments; s++) {
        const float4 *const there = (const float4 *)cluster_shared(sums, s);
        const float times = ((const float *)cluster_shared(factors, s))[buffer * blockDim.x + threadIdx.x];
#pragma unroll
        for (int c = 0; c < OWN(dtype); c += 4) {
            const float4 pair = there[(buffer * OWN(dtype) + c) / 4 * blockDim.x + threadIdx.x];
            if (s == segment)
                h[c] = state[c], h[c + 1] = state[c + 1], h[c + 2] = state[c + 2], h[c + 3] = state[c + 3];
            state[c] = times * state[c] + pair.x, state[c + 1] = times * state[c + 1] + pair.y;
            state[c + 2] = times * state[c + 2] + pair.z, state[c + 3] = times * state[c + 3] + pair.w;
        }
    }
}

#endif
