/* SPDX-License-Identifier: MIT */
/* cluster_plan.h - the launch of cluster and cluster_backward: a tile for each block, and a cluster of blocks for each
   sequence. */
#ifndef CLUSTER_PLAN_H
#define CLUSTER_PLAN_H

#include "tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CLUSTER_MAX_THREADS = 512, /* of a block, with up to 4 rows for each warp, */
    CLUSTER_MAX_BLOCKS = 16,   /* and of them in a cluster: no chip takes more */
    CLUSTER_FEW = 6,           /* so many sequences have as many each: an H200 holds seven such clusters at once */
    /* of a sequence, with 4 rows; it may begin up to 3 elements into its first group */
    CLUSTER_MAX_LEN = CLUSTER_MAX_BLOCKS * 16 * CLUSTER_MAX_THREADS - 3,
};

struct cluster_plan {
    struct tiling tiling; /* seq_tiles: blocks of a cluster */
    int rows, threads;
};

/* What args->config says, and else by the sequence's length: 8 blocks with 2 rows and 256 threads if they suffice for
   it, or up to most_blocks with 4 rows, or 512 threads; for up to CLUSTER_FEW sequences 16 blocks in place of these.
   cudaErrorInvalidValue if it does not fit a cluster at all, cudaErrorNotSupported if the chip has no clusters. */
cudaError_t cluster_plan(const struct linrec_args *args, unsigned most_blocks, const struct gpu_info *gpu,
                         struct cluster_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
