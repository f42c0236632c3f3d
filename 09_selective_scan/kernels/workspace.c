/* SPDX-License-Identifier: MIT */
/* workspace.c - the layout of the workspace, and its size. */
#include "workspace.h"

#include "../../common/cuda/gpu_info.h"
#include "grid.h"
#include "selective_check.h"

float *selective_next_piece(const struct selective_args *args, size_t count, size_t *used)
{
    float *piece = args->workspace != NULL ? (float *)((char *)args->workspace + *used) : NULL;
    *used += (count + 3) / 4 * 16;
    return piece;
}

struct selective_parts selective_parts_of(const struct selective_args *args, size_t per_group, size_t segments)
{
    const size_t both = segments * args->batch * args->channels, carries = segments > 1 ? both * args->states : 0;
    const size_t batches = args->starts != NULL ? 1 : args->batch; /* packed sequences share their arrays' rows */
    const size_t of_groups = batches * args->groups * per_group * args->states * args->seq_len;
    const size_t tiles = (args->seq_len + 31) / 32; /* a segment is a multiple of 32 steps */
    const size_t of_segment = (tiles + segments - 1) / segments;
    struct selective_parts parts = {
        .per_group = per_group, .segments = (tiles + of_segment - 1) / of_segment, .segment_steps = of_segment * 32};
    parts.saved_floats = 32 * 8 + (parts.segments > 1 ? 32 : 0);
    parts.d_B = selective_next_piece(args, of_groups, &parts.bytes);
    parts.d_C = selective_next_piece(args, of_groups, &parts.bytes);
    parts.d_A = selective_next_piece(args, both * args->states, &parts.bytes);
    parts.d_D = selective_next_piece(args, both, &parts.bytes);
    parts.d_bias = selective_next_piece(args, both, &parts.bytes);
    parts.product = selective_next_piece(args, carries, &parts.bytes);
    parts.end = selective_next_piece(args, carries, &parts.bytes);
    parts.start = selective_next_piece(args, carries, &parts.bytes);
    parts.rest = selective_next_piece(args, 0, &parts.bytes);
    return parts;
}

/* Backward the partial sums, the states at the start of each chunk, and those of a chunk; and where the states need
   more than one pass, what goes from one to the next: y, and backward d_u and d_step. */
size_t selective_steps_workspace(const struct selective_args *given, bool backward)
{
    const struct selective_args sequences = selective_sequences(given), *const args = &sequences;
    if (selective_is_empty(given))
        return 0;
    const size_t row = given->batch * args->channels * args->seq_len * sizeof(float);
    const size_t so_far = args->states <= STEPS_ELEMS ? 0 : backward ? 3 * row : row;
    if (!backward)
        return so_far;
    const struct selective_parts parts = selective_parts_of(args, selective_warps(args), 1);
    const size_t saved = selective_steps_chunks(args) + args->batch * STEPS_CHUNK;
    return parts.bytes + so_far + args->groups * parts.per_group * saved * STEPS_ELEMS * 32 * sizeof(float);
}

/* The partial sums of a group's blocks, and the states before each chunk of each warp. */
static size_t gradients_workspace(const struct selective_args *args, const struct selective_parts *parts, size_t warps)
{
    const size_t chunks = (args->seq_len - 1) / STATE_PASSING_STEPS + 1;
    return parts->bytes +
           args->batch * args->groups * parts->per_group * warps * chunks * (size_t)parts->saved_floats * sizeof(float);
}

size_t selective_state_passing_workspace(const struct selective_args *args, bool backward)
{
    if (!backward || selective_is_empty(args))
        return 0;
    const struct selective_parts parts = selective_parts_of(args, selective_state_passing_parts(args), 1);
    return gradients_workspace(args, &parts, 1);
}

size_t selective_fused_workspace(const struct selective_args *args, bool backward)
{
    struct selective_parts parts;
    if (!backward || selective_is_empty(args) || selective_fused_plan(args, &parts) != cudaSuccess)
        return 0;
    return gradients_workspace(args, &parts, FUSED_WARPS);
}

cudaError_t selective_fused_plan(const struct selective_args *args, struct selective_parts *parts)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    if (error == cudaSuccess)
        *parts =
            selective_parts_of(args, selective_fused_parts(args), selective_fused_segments(args, gpu.multiprocessors));
    return error;
}
