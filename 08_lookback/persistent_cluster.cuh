/* SPDX-License-Identifier: MIT */
/* persistent_cluster.cuh - shared by persistent_cluster.cu and persistent_cluster_backward.cu: the order in which a
   block takes its tiles, what the blocks of a cluster send each other, the two warps beside those that compute, and the
   launch. */
#ifndef PERSISTENT_CLUSTER_CUH
#define PERSISTENT_CLUSTER_CUH

#include "../common/cuda/cluster.h"
#include "../common/cuda/launch_of.h"
#include "cluster_descriptor.cuh"
#include "../06_backward/states.cuh"
#include "tile.cuh"

/* ---- the order of the tiles ---- */

/* A block takes every gridDim.x-th tile. Additions find the next one: a division takes longer, and a round is short. */
struct tile_iterator {
    unsigned seq, in_seq;           /* the next tile's sequence and number there */
    unsigned seq_step, in_seq_step; /* from round to round, if the sequence does not end */
};

static __device__ __forceinline__ struct tile_iterator tiles_begin(const struct tiling *tiling)
{
    return (struct tile_iterator){blockIdx.x / tiling->seq_tiles, blockIdx.x % tiling->seq_tiles,
                                  gridDim.x / tiling->seq_tiles, gridDim.x % tiling->seq_tiles};
}

template <int from_end>
static __device__ __forceinline__ struct tile tiles_next(struct tile_iterator *next, const struct tiling *tiling)
{
    const struct tile tile = tile_of<from_end>(next->seq, next->in_seq, tiling);
    next->seq += next->seq_step;
    next->in_seq += next->in_seq_step;
    if (next->in_seq >= tiling->seq_tiles)
        next->seq++, next->in_seq -= tiling->seq_tiles;
    return tile;
}

/* ---- inside of a cluster ---- */

/* The eight tiles of a cluster in one round, side by side, are a cluster tile. Each block has one of these for each
   tile in its registers, in its own shared memory. Every block receives its carry there. All the rest is received and
   used by the cluster's first block alone:

       compute warps of 8 blocks --aggregates--> publish_warp --before--> look_back_warp --carry--> compute warps

   PC_TILES rounds later all of it is written again. By then it has been read: a block sends the next aggregate to a
   place after it has received the carry of the last one. look_back_warp made that of `before`, and publish_warp has
   written `before` when all its lanes had read the aggregates. What else look_back_warp has read of them goes into the
   8 bytes of a carry, too, since of a thread that has sent a value one knows only that it has read what is in there
   (cluster_send). */
struct cluster_tile {
    uint64_t aggregates_arrived, before_ready, carry_arrived;
    unsigned long long aggregates[PC_BLOCKS]; /* of the tile of each block */
    struct pair before[PC_BLOCKS];            /* what the tiles before it in the cluster tile do together */
    unsigned long long carry;                 /* lower half: what comes into this block's tile, its exclusive prefix */
};

/* Prepares these, and the barriers at which TMA counts bytes. One thread calls it. */
static __device__ __forceinline__ void cluster_tiles_init(struct cluster_tile *tiles, uint64_t *arrived)
{
    for (int s = 0; s < PC_STAGES; s++)
        mbarrier_init(&arrived[s], 1);
    for (int i = 0; i < PC_TILES; i++) {
        mbarrier_init(&tiles[i].aggregates_arrived, 1);
        mbarrier_init(&tiles[i].before_ready, PC_BLOCKS);
        mbarrier_init(&tiles[i].carry_arrived, 1);
    }
    mbarrier_init_done();
}

/* One thread of each block sends what its tile does to the cluster's first block. NaNs go as they are: a barrier says
   whether the pair is there. */
static __device__ __forceinline__ void send_aggregate(struct cluster_tile *tile, struct pair aggregate)
{
    const unsigned long long bits =
        (unsigned long long)__float_as_uint(aggregate.product) << 32 | __float_as_uint(aggregate.sum);
    mbarrier_expect(&tile->carry_arrived, sizeof(tile->carry));
    cluster_send(&tile->aggregates[cluster_rank()], bits, &tile->aggregates_arrived, 0);
}

/* A warp of the cluster's first block joins the aggregates of its eight blocks, and publishes the result for the other
   clusters. */
static __device__ __forceinline__ void publish_warp(struct cluster_tile *tiles, struct workspace *space, int rounds,
                                                    int lane)
{
    if (lane < 2 * PC_RING && cluster_rank() == 0 &&
        descriptor_read(&cluster_descriptor(space, lane / 2, blockIdx.x / PC_BLOCKS)[lane % 2]) != NOT_PUBLISHED)
        __trap(); /* the workspace was not initialised, or not all of it */
    for (int round = 0; round < rounds && cluster_rank() == 0; round++) {
        struct cluster_tile *const tile = &tiles[round % PC_TILES];
        if (lane == 0)
            mbarrier_expect(&tile->aggregates_arrived, sizeof(tile->aggregates));
        __syncwarp();
        cluster_receive(&tile->aggregates_arrived, round / PC_TILES % 2);
        const struct pair up_to_here =
            warp_scan(descriptor_pair(lane < PC_BLOCKS ? tile->aggregates[lane] : IDENTITY_DESCRIPTOR), lane);
        const struct pair aggregate = pair_shfl(up_to_here, 31), before = lane_before(up_to_here, lane);
        if (lane < 2)
            descriptor_write(&cluster_descriptor(space, round, blockIdx.x / PC_BLOCKS)[lane], round,
                             __float_as_uint(lane == 0 ? aggregate.product : aggregate.sum));
        if (lane < PC_BLOCKS) {
            tile->before[lane] = before;
            mbarrier_arrive(&tile->before_ready);
        }
    }
}

/* Another warp of that block looks back for what comes into the cluster tile, and sends each block its carry. In the
   other blocks this warp does nothing but count its block as finished. `states`: backward, where what
   leaves a sequence goes; forward NULL. */
static __device__ __forceinline__ void look_back_warp(struct cluster_tile *tiles, struct workspace *space, int rounds,
                                                      unsigned seq_cluster_tiles, const struct states *states, int lane)
{
    const unsigned num_clusters = gridDim.x / PC_BLOCKS;
    float carry = 0.0f; /* of the cluster's last tile */
    for (int round = 0; round < rounds && cluster_rank() == 0; round++) {
        struct cluster_tile *const tile = &tiles[round % PC_TILES];
        const unsigned in_seq = (round * num_clusters + blockIdx.x / PC_BLOCKS) % seq_cluster_tiles;
        mbarrier_wait(&tile->before_ready, round / PC_TILES % 2);
        const struct pair since = cluster_look_back(space, round, in_seq, lane);
        carry = in_seq > num_clusters ? carry * since.product + since.sum : since.sum;
        if (lane < PC_BLOCKS) {
            const struct pair before = tile->before[lane];
            const float into = in_seq == 0 ? before.sum : carry * before.product + before.sum;
            float out = 0.0f; /* of the sequence: nobody looks for it in the carry */
            if (states != NULL && lane == PC_BLOCKS - 1 && in_seq == seq_cluster_tiles - 1) { /* the sequence ends */
                const struct pair last = descriptor_pair(tile->aggregates[lane]);
                out = into * last.product + last.sum;
                leave_gradient(states, out, (round * num_clusters + blockIdx.x / PC_BLOCKS) / seq_cluster_tiles);
            }
            cluster_send(&tile->carry, (unsigned long long)__float_as_uint(out) << 32 | __float_as_uint(into),
                         &tile->carry_arrived, lane);
        }
    }
    leave_workspace(space, 2 * PC_RING * num_clusters, lane);
}

/* ---- the launch ---- */

/* How a kernel is launched; only its arguments are missing. */
struct persistent_cluster_launch {
    struct persistent_cluster_plan plan;
    cudaLaunchAttribute attributes[2]; /* the size of a cluster, and that all blocks are resident */
    cudaLaunchConfig_t config;
};

/* Checks the arguments, and takes as many clusters as the chip has room for at once. No tiles: nothing to do. */
static inline cudaError_t persistent_cluster_prepare(const void *kernel, const struct linrec_args *args, bool backward,
                                                     const struct gpu_info *gpu, cudaStream_t stream,
                                                     struct persistent_cluster_launch *launch)
{
    struct persistent_cluster_plan *const plan = &launch->plan;
    cudaLaunchConfig_t *const config = &launch->config;
    int clusters = 0;
    cudaError_t error = persistent_cluster_plan(args, backward, gpu, plan);
    if (error != cudaSuccess || plan->tiling.num_tiles == 0)
        return error;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)plan->most_shared);
    cudaLaunchAttribute *const blocks = &launch->attributes[0];
    *blocks = {};
    blocks->id = cudaLaunchAttributeClusterDimension;
    blocks->val.clusterDim.x = PC_BLOCKS;
    blocks->val.clusterDim.y = blocks->val.clusterDim.z = 1;
    launch->attributes[1] = all_resident();
    *config = launch_of(PC_BLOCKS, plan->threads + 64, plan->shared, stream);
    config->attrs = launch->attributes;
    config->numAttrs = 1; /* how many clusters fit does not depend on the other one */
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveClusters(&clusters, kernel, config);
    if (error == cudaSuccess)
        error = persistent_cluster_fit(args, clusters, plan);
    config->gridDim = dim3(plan->blocks);
    config->blockDim = dim3(plan->threads + 64);
    config->dynamicSmemBytes = plan->shared;
    config->numAttrs = 2;
    return error;
}

#endif
