/* SPDX-License-Identifier: MIT */
/* one_hop_plan.h - the launch of one_hop and one_hop_backward: a tile for each block, and all blocks on the chip at the
   same time. */
#ifndef ONE_HOP_PLAN_H
#define ONE_HOP_PLAN_H

#include "tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ONE_HOP_MAX_THREADS = 512, /* of a block, with up to 4 rows for each warp: 128 registers are left for each thread */
    ONE_HOP_LANE_TILES = 8,    /* tiles at which a lane looks, at most, */
    ONE_HOP_SEQ_TILES = 32 * ONE_HOP_LANE_TILES, /* so many in a sequence, */
    ONE_HOP_TILES = 512,                         /* and in all sequences: so many have room in the workspace, */
    ONE_HOP_BYTES = 128 + 16 * ONE_HOP_TILES,    /* which begins with a line for a number and a counter */
    /* of a sequence; it may begin up to 3 elements into its first group */
    ONE_HOP_MAX_LEN = ONE_HOP_SEQ_TILES * 16 * ONE_HOP_MAX_THREADS - 3,
};

struct one_hop_plan {
    struct tiling tiling;
    int rows, threads;
};

/* Tiles for which there is room in the workspace: number `choice`, from the smallest on. What args->config says is
   taken; it leaves one choice, or two. The caller asks the chip whether the blocks fit, and takes the next choice if
   not.
   cudaErrorInvalidValue if args->config, or a sequence of this length, does not fit any chip; cudaErrorNotSupported if
   the chip has no cooperative launches, or there is no such choice. */
cudaError_t one_hop_plan(const struct linrec_args *args, const struct gpu_info *gpu, int choice,
                         struct one_hop_plan *plan);

/* The first choice whose blocks are all resident at the same time. of_rows: the kernel with 1, 2 and 4 rows. Of args
   only the sizes and the config are read. cudaErrorNotSupported: there is no such choice. */
cudaError_t one_hop_fit(const void *const of_rows[3], const struct linrec_args *args, const struct gpu_info *gpu,
                        struct one_hop_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
