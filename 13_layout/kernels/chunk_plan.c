/* SPDX-License-Identifier: MIT */
/* chunk_plan.c - see chunk_plan.h */
#include "chunk_plan.h"

#include <stdint.h>

#include "kernels.h"
#include "walk.h"

static size_t up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* Counts the chunks of a plan whose width and threads are chosen; false if they cannot be numbered. */
static bool count_chunks(const struct layout_args *args, size_t rows, struct chunk_plan *plan)
{
    const size_t chunk_len = rows * ((size_t)plan->threads / 32), most = 0x7FFFFFFF - 65536;
    const size_t groups = up(args->channels, 32 * (size_t)plan->width), in_time = up(args->seq_len, chunk_len);
    if (groups > most / args->batch || in_time > most / (groups * args->batch))
        return false;
    plan->chunk_len = (unsigned)chunk_len;
    plan->groups = (unsigned)groups;
    plan->batch = (unsigned)args->batch;
    plan->num_chunks = (unsigned)(groups * args->batch * in_time);
    return true;
}

static bool make_split_plan(const struct layout_args *args, bool backward, struct chunk_plan *plan)
{
    const struct launch_config *config = &args->config;
    const int widest = args->dtype == FLOAT32 ? SPLIT_WIDTH_FLOAT32 : SPLIT_WIDTH_16;
    const size_t rows = backward ? SPLIT_ROWS_BACKWARD : SPLIT_ROWS;
    plan->width = layout_width(args, backward, widest) == widest ? widest : 1;
    plan->threads = config->threads != 0 ? config->threads : backward ? 512 : 256;
    const size_t steps = up(args->seq_len, rows); /* warps that have something to do */
    if (config->threads == 0 && steps < (size_t)plan->threads / 32)
        plan->threads = 32 * (int)steps;
    return plan->threads <= SPLIT_MAX_THREADS && count_chunks(args, rows, plan);
}

static bool make_tensor_map_plan(const struct layout_args *args, bool backward, struct chunk_plan *plan)
{
    (void)backward; /* it cuts both the same way */
    plan->width = TILE_WIDTH(args->dtype);
    plan->threads = 32 * TILE_WARPS;
    return count_chunks(args, TILE_ROWS, plan);
}

static size_t space_of(const struct chunk_plan *plan)
{
    return (16 + (size_t)plan->num_chunks * 2 * 32 * (size_t)plan->width) * sizeof(unsigned long long);
}

typedef bool make_plan(const struct layout_args *args, bool backward, struct chunk_plan *plan);

static size_t workspace(make_plan *make, const struct layout_args *args, bool backward)
{
    struct chunk_plan plan;
    if (args->batch == 0 || args->seq_len == 0 || args->channels == 0 || !make(args, backward, &plan))
        return 0;
    return space_of(&plan);
}

size_t layout_split_workspace(const struct layout_args *args, bool backward)
{
    return workspace(make_split_plan, args, backward);
}

size_t layout_tensor_map_workspace(const struct layout_args *args, bool backward)
{
    return workspace(make_tensor_map_plan, args, backward);
}

static cudaError_t checked(bool made, const struct layout_args *args, const struct chunk_plan *plan)
{
    return made && args->workspace != NULL && (uintptr_t)args->workspace % 16 == 0 &&
                   args->workspace_size >= space_of(plan)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

cudaError_t split_plan(const struct layout_args *args, bool backward, struct chunk_plan *plan)
{
    return checked(make_split_plan(args, backward, plan), args, plan);
}

cudaError_t tensor_map_plan(const struct layout_args *args, bool backward, struct chunk_plan *plan)
{
    return checked(make_tensor_map_plan(args, backward, plan), args, plan);
}
