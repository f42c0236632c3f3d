/* split_plan.c - see chunk_state.h */

#include "chunk_state.h"

cudaError_t split_plan(const struct chunk_state_args *args, const void *kernel, struct split_plan *plan)
{
    const cudaError_t error = pieces_shape(args, kernel, 128, args->storage == FLOAT32 ? 6 : 8, 1, 0, &plan->shape);
    if (error != cudaSuccess)
        return error;
    if (plan->shape.threads > SPLIT_MAX_THREADS || (args->chunks - 1) / STEPS >= 0x7FFFFFFF / SPLIT_MAX_SEGMENTS)
        return cudaErrorInvalidValue;
    const size_t blocks = plan->shape.blocks < SPLIT_MAX_BLOCKS ? plan->shape.blocks : SPLIT_MAX_BLOCKS;
    const size_t items = plan->shape.items, most = blocks / items;
    plan->segments = most < 1 ? 1 : most < SPLIT_MAX_SEGMENTS ? (unsigned)most : SPLIT_MAX_SEGMENTS;
    plan->groups = (unsigned)(items < blocks ? items : blocks);
    plan->pieces = (unsigned)((args->chunks - 1) / STEPS + 1);

    /* a segment waits on the chip while half of the stages take what comes next */
    const size_t window = (size_t)plan->segments * ((size_t)plan->shape.stages / 2);
    plan->windows = (unsigned)((plan->pieces - 1) / window + 1);
    return cudaSuccess;
}

enum { COUNTERS = 2 * SPLIT_MAX_BLOCKS * sizeof(unsigned) };

/* Bytes of one thread's words in one window. */
static size_t words_of(size_t blocks, size_t threads)
{
    return 2 * blocks * threads;
}

size_t chunk_state_split_workspace(const struct chunk_state_args *args, bool backward)
{
    (void)args;
    return backward ? 0 : COUNTERS + words_of(SPLIT_MAX_BLOCKS, SPLIT_MAX_THREADS) * 5 * sizeof(float);
}

bool split_space(const struct chunk_state_args *args, const struct split_plan *plan, struct split_space *space)
{
    const size_t words = words_of((size_t)plan->groups * plan->segments, (size_t)plan->shape.threads);
    char *const base = args->workspace;
    if (base == NULL || args->workspace_size < COUNTERS + words * 5 * sizeof(float))
        return false;
    space->told = (unsigned *)base;
    space->left = space->told + SPLIT_MAX_BLOCKS;
    space->sums = (float *)(base + COUNTERS);
    space->products = space->sums + 4 * words;
    return true;
}
