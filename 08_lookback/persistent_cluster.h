/* SPDX-License-Identifier: MIT */
/* persistent_cluster.h - the launch of persistent_cluster and its backward: persistent blocks in clusters,
   which take the tiles round by round. PC_ are this kernel's constants. */
#ifndef PERSISTENT_CLUSTER_H
#define PERSISTENT_CLUSTER_H

#include "tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PC_MAX_THREADS = 320, /* that compute: with the two warps beside them, 168 registers are left for each thread */
    PC_ROWS = 4,          /* of 128 elements in each warp's part of a tile */
    PC_TILES = 3,         /* that a block has in registers */
    PC_STAGES = 2,        /* tiles on their way to shared memory */
    PC_BLOCKS = 8,        /* of a cluster: any chip with clusters takes so many */
    PC_MAX_CLUSTERS = 32, /* a lane looks at one */
    /* Rounds whose descriptors lie side by side. A cluster that publishes in round t knows the carry of round
       t - PC_TILES, so all clusters have published in round t - PC_TILES - 1 or later, and have looked back in round
       t - 2 PC_TILES - 1. That was the last look at descriptors of the round before, which those of round t replace. */
    PC_RING = 2 * PC_TILES + 2,
    PC_OWN_SHARED = 2048, /* bytes of shared memory beside the tiles, at most */
};

struct persistent_cluster_plan {
    struct tiling tiling; /* seq_tiles is a multiple of PC_BLOCKS: the last tiles may have no elements */
    int threads;          /* that compute */
    unsigned blocks;      /* all of them are on the chip at the same time */
    size_t shared;        /* bytes of dynamic shared memory */
    int num_tiles;        /* that this is */
    size_t most_shared;   /* that a block can have */
};

/* Checks what args says, and sets the most threads and shared memory that the blocks can need. cudaErrorNotSupported if
   the chip has no clusters or no cooperative launches. */
cudaError_t persistent_cluster_plan(const struct linrec_args *args, bool backward, const struct gpu_info *gpu,
                                    struct persistent_cluster_plan *plan);

/* Then fits the tiles to so many clusters, in such a way that the last blocks to end have as much to do as the others.
   cudaErrorNotSupported if there is no room for one. */
cudaError_t persistent_cluster_fit(const struct linrec_args *args, int clusters, struct persistent_cluster_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
