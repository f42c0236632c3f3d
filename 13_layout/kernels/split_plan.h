/* SPDX-License-Identifier: MIT */
/* split_plan.h - how split.cu and split_backward.cu cut a problem into chunks. */
#ifndef LAYOUT_SPLIT_PLAN_H
#define LAYOUT_SPLIT_PLAN_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each lane has 8 bytes of a step: of float32 two channels, of 16 bits four; one channel where arrays are not aligned
   to that. A warp has so many steps in registers. */
enum {
    SPLIT_WIDTH_FLOAT32 = 2,
    SPLIT_WIDTH_16 = 4,
    SPLIT_ROWS = 16,
    SPLIT_ROWS_BACKWARD = 8, /* of three arrays instead of two */
    SPLIT_MAX_THREADS = 512
};

struct split_plan {
    int width;   /* channels of a lane */
    int threads; /* of a block: chunk_len = rows * warps */
    unsigned chunk_len, groups, batch, num_chunks;
};

/* Chooses, and checks the workspace. cudaErrorInvalidValue: too many chunks to be numbered, or no such plan. */
cudaError_t split_plan(const struct layout_args *args, bool backward, struct split_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
