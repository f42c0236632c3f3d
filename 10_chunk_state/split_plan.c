/* split_plan.c - see chunk_state.h */

#include "chunk_state.h"
#include <stdlib.h>

cudaError_t split_plan(const struct chunk_state_args *args, const void *kernel, struct split_plan *plan)
{
    const int threads = getenv("SPT") ? atoi(getenv("SPT")) : 128, st = getenv("SPS") ? atoi(getenv("SPS")) : 8;
    const cudaError_t error = pieces_shape(args, kernel, threads, st, STEPS, 1, 2 * (16 / storage_bytes(args->storage) + 1) * sizeof(float), &plan->shape);
    if (error != cudaSuccess)
        return error;
    if (plan->shape.threads > SPLIT_MAX_THREADS || plan->shape.items > 0x7FFFFFFF / SPLIT_MAX_SEGMENTS)
        return cudaErrorInvalidValue;
    const size_t pieces = (args->chunks - 1) / STEPS + 1;
    const size_t stages = plan->shape.stages;
    const int ahead = getenv("SPA") ? atoi(getenv("SPA")) : (int)stages / 2;
    const unsigned most_seg = getenv("SPM") ? (unsigned)atoi(getenv("SPM")) : SPLIT_MAX_SEGMENTS;
    plan->segments = pieces < most_seg ? (unsigned)pieces : most_seg;

    /* one window, if the stages hold all; else a segment waits on the chip while half of them take what comes next */
    const size_t most = pieces <= plan->segments * stages ? stages : stages - ahead;
    plan->windows = (unsigned)((pieces - 1) / (plan->segments * most) + 1);
    plan->each = (unsigned)((pieces - 1) / (plan->segments * plan->windows) + 1);
    return cudaSuccess;
}

size_t chunk_state_split_workspace(const struct chunk_state_args *args, bool backward)
{
    (void)args;
    (void)backward;
    return 0;
}
