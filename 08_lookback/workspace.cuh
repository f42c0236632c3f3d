/* SPDX-License-Identifier: MIT */
/* workspace.cuh - the global memory through which the blocks of chained.cu, lookback.cu, resident.cu and
   persistent_cluster.cu, and of the last two backward, speak to each other: a ticket counter and the tile descriptors.
   The last block to finish cleans it for the next launch. (In front of it lies what one_hop.cu needs, which nobody
   cleans: lookback_space in launch.c.) */
#ifndef WORKSPACE_CUH
#define WORKSPACE_CUH

#include "tile_descriptor.cuh"

/* A launch finds all of it filled with 0xFF, and leaves it so. If not (nobody has initialised it, or two launches use
   it at the same time), a ticket or the count of blocks becomes a number that cannot be. Then the launch stops with an
   error, cudaErrorLaunchFailure, before the number is used as an index. */
struct workspace {
    unsigned ticket;                  /* the last tile that a block took */
    unsigned finished;                /* the number of blocks that have finished, less one */
    unsigned long long descriptors[]; /* of each tile */
};

/* The next tile that no block has taken yet. The counter begins with all bits set, so the first ticket is -1 + 1. The
   caller looks whether there is such a tile. */
static __device__ __forceinline__ unsigned take_ticket(struct workspace *space)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(space->ticket);
    return ticket.fetch_add(1, cuda::memory_order_relaxed) + 1;
}

/* A warp of each block calls it when its block will read and write no descriptor any more. The last block to call it
   cleans the workspace. All accesses of the other blocks must come before that: each block releases its own here, and
   the last one acquires them. */
static __device__ __forceinline__ void leave_workspace(struct workspace *space, unsigned num_descriptors, int lane)
{
    unsigned others = 0; /* the blocks that have called it before: the counter plus 1, since it begins with -1 */
    __syncwarp();
    if (lane == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(space->finished);
        others = finished.fetch_add(1, cuda::memory_order_acq_rel) + 1;
        if (others >= gridDim.x)
            __trap();
    }
    others = __shfl_sync(ALL_LANES, others, 0);
    __syncwarp();
    if (others + 1 != gridDim.x)
        return;
    for (unsigned i = lane; i < num_descriptors; i += 32)
        space->descriptors[i] = NOT_PUBLISHED;
    if (lane == 0)
        space->ticket = space->finished = 0xFFFFFFFFu;
}

#endif
