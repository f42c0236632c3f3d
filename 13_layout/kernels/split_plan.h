/* SPDX-License-Identifier: MIT */
/* split_plan.h - how split.cu and split_backward.cu cut a problem into chunks. */
#ifndef LAYOUT_SPLIT_PLAN_H
#define LAYOUT_SPLIT_PLAN_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPLIT_MAX_THREADS = 512 };

struct split_plan {
    int width;   /* channels of a lane */
    int stages;  /* chunks in shared memory, of prefetch */
    int rows;    /* steps of a warp */
    int threads; /* of a block: chunk_len = rows * warps */
    unsigned chunk_len, groups, batch, num_chunks;
    unsigned shared; /* bytes of dynamic shared memory, of prefetch */
};

/* Chooses, and checks the workspace. cudaErrorInvalidValue: too many chunks to be numbered, or no such plan. */
cudaError_t split_plan(const struct layout_args *args, bool backward, struct split_plan *plan);

/* The same for prefetch.cu and prefetch_backward.cu, which need shared memory, too. */
cudaError_t prefetch_plan(const struct layout_args *args, bool backward, struct split_plan *plan);

/* How many blocks of a kernel are launched: as many as the chip holds, or one for each chunk. */
cudaError_t split_blocks(const void *kernel, const struct split_plan *plan, unsigned *blocks);

#ifdef __cplusplus
}
#endif
#endif
