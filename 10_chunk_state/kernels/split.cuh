/* SPDX-License-Identifier: MIT */
/* split.cuh - how split.cu spreads the chunks of a slice over the blocks of a cluster. A segment is a few tiles in a
   row, which wait in the stages of one block; the segments of all blocks of the cluster are a window. */
#ifndef SPLIT_CUH
#define SPLIT_CUH

#include "tma_tile.cuh"

enum { SPLIT_MAX_SEGMENTS = 8, SPLIT_MAX_THREADS = 256 };

struct split_plan {
    struct tma_shape shape;
    unsigned segments, windows;
    unsigned each; /* tiles of a segment */
};

static cudaError_t split_plan(const struct chunk_state_args *args, const void *kernel, struct split_plan *plan)
{
    const size_t pair_bytes = (16 / dtype_bytes(args->dtype) + 1) * sizeof(float);
    const cudaError_t error =
        tma_shape_of(args, kernel, 64, args->dtype == FLOAT32 ? 5 : 8, TILE_STEPS, 1, 2 * pair_bytes, 0, &plan->shape);
    if (error != cudaSuccess)
        return error;
    if (plan->shape.threads > SPLIT_MAX_THREADS || plan->shape.items > 0x7FFFFFFF / SPLIT_MAX_SEGMENTS)
        return cudaErrorInvalidValue;
    const size_t tiles = (args->chunks - 1) / TILE_STEPS + 1, stages = (size_t)plan->shape.stages;
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

/* Where a block is on its way through its segments. */
struct split_position {
    size_t first;  /* chunk of the tile */
    unsigned left; /* tiles from here to the segment's end */
    int stage, parity;
};

/* Goes to the block's next tile, which may be in the next window, and past the last chunk. */
static __device__ __forceinline__ void split_advance(struct split_position *at, const struct split_plan *plan)
{
    at->first += TILE_STEPS;
    if (--at->left == 0)
        at->left = plan->each, at->first += (size_t)(plan->segments - 1) * plan->each * TILE_STEPS;
    if (++at->stage == plan->shape.stages)
        at->stage = 0, at->parity ^= 1;
}

#endif
