/* SPDX-License-Identifier: MIT */
/* chunk_plan.h - how split.cu and tensor_map.cu, and their gradients, cut a problem into chunks: steps by channels. A
   block has one, and each of its warps some of the steps. */
#ifndef LAYOUT_CHUNK_PLAN_H
#define LAYOUT_CHUNK_PLAN_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* split: each lane has 8 bytes of a step: of float32 two channels, of 16 bits four; one channel where arrays are not
   aligned to that. A warp has SPLIT_ROWS steps in registers. */
enum {
    SPLIT_WIDTH_FLOAT32 = 2,
    SPLIT_WIDTH_16 = 4,
    SPLIT_ROWS = 16,
    SPLIT_ROWS_BACKWARD = 8, /* of three arrays instead of two */
    SPLIT_MAX_THREADS = 512
};

/* tensor_map: each lane has 4 bytes of a step, a warp a line of 128. A warp has TILE_ROWS steps in shared memory. */
enum { TILE_LINE = 128, TILE_WARPS = 8, TILE_ROWS = 32 };

/* The channels of a lane, in float32 one, of 16 bits two. */
#define TILE_WIDTH(dtype) ((dtype) == FLOAT32 ? 1 : 2)

struct chunk_plan {
    int width;   /* channels of a lane */
    int threads; /* of a block: chunk_len = rows * warps */
    unsigned chunk_len, groups, batch, num_chunks;
};

/* Each chooses, and checks the workspace. cudaErrorInvalidValue: too many chunks to be numbered, or no such plan. */
cudaError_t split_plan(const struct layout_args *args, bool backward, struct chunk_plan *plan);
cudaError_t tensor_map_plan(const struct layout_args *args, bool backward, struct chunk_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
