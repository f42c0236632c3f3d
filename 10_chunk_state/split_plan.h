/* split_plan.h - how split.cu spreads chunks over blocks, and its workspace. */
#ifndef SPLIT_PLAN_H
#define SPLIT_PLAN_H

#include "../common/host_device.h"
#include "pieces.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPLIT_MAX_SEGMENTS = 8, SPLIT_MAX_THREADS = 256, SPLIT_MAX_BLOCKS = 1024 };

/* Windows of segments. A group of blocks, one for each segment, takes items group, group + groups, ... */
struct split_plan {
    struct pieces_shape shape;
    unsigned segments, groups, windows;
    unsigned pieces; /* of a slice */
};

/* What blocks tell each other. The counters begin as -1; the last of a group to leave makes them so again. */
struct split_space {
    unsigned *told, *left; /* of each group: how often a block has told, and how many have left */
    float *sums;           /* of each thread, for each group, two windows and each segment */
    float *products;
};

/* The first piece of a segment; of the one behind the last: its end. */
static inline HOST_DEVICE unsigned split_begin(const struct split_plan *plan, unsigned window, unsigned segment)
{
    return (unsigned)((size_t)plan->pieces * (window * plan->segments + segment) /
                      (plan->windows * plan->segments));
}

cudaError_t split_plan(const struct chunk_state_args *args, const void *kernel, struct split_plan *plan);

/* Where things lie in the workspace. Returns false if there is none or too little. */
bool split_space(const struct chunk_state_args *args, const struct split_plan *plan, struct split_space *space);

#ifdef __cplusplus
}
#endif
#endif
