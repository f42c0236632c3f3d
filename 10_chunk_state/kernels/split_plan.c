/* split_plan.c - see kernels.h */
#include "kernels.h"

cudaError_t split_plan(const struct chunk_state_args *args, const void *kernel, struct split_plan *plan)
{
    const size_t pair_bytes = (16 / dtype_bytes(args->dtype) + 1) * sizeof(float);
    const cudaError_t error =
        pieces_shape(args, kernel, 64, args->dtype == FLOAT32 ? 5 : 8, STEPS, 1, 2 * pair_bytes, 0, &plan->shape);
    if (error != cudaSuccess)
        return error;
    if (plan->shape.threads > SPLIT_MAX_THREADS || plan->shape.items > 0x7FFFFFFF / SPLIT_MAX_SEGMENTS)
        return cudaErrorInvalidValue;
    const size_t pieces = (args->chunks - 1) / STEPS + 1, stages = (size_t)plan->shape.stages;
    const size_t segments = pieces < SPLIT_MAX_SEGMENTS ? pieces : SPLIT_MAX_SEGMENTS;

    /* one window, if the stages hold all; else a stage takes what comes next */
    const size_t most = pieces <= segments * stages ? stages : stages - 1;
    const size_t windows = (pieces - 1) / (segments * most) + 1;
    if (windows > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    plan->segments = (unsigned)segments;
    plan->windows = (unsigned)windows;
    plan->each = (unsigned)((pieces - 1) / (segments * windows) + 1);
    return cudaSuccess;
}
