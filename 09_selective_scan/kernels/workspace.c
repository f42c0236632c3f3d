/* SPDX-License-Identifier: MIT */
/* workspace.c - what lies where in the workspace, and how large it is. */
#include "launch.h"

/* The next `count` floats of the workspace, from byte *used on, which becomes where they end: a multiple of 16. */
static float *next_piece(const struct selective_args *args, size_t count, size_t *used)
{
    float *piece = args->workspace != NULL ? (float *)((char *)args->workspace + *used) : NULL;
    *used += (count + 3) / 4 * 16;
    return piece;
}

/* The least multiple of `unit` that is not below `count`. */
static size_t round_up(size_t count, size_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* A window has window_steps, or as few as there are. A segment is a multiple of 32 steps, and a window, too. */
static struct selective_parts lay_out(const struct selective_args *args, size_t per_group, size_t segments,
                                      size_t window_steps, bool fused)
{
    struct selective_parts parts = {.per_group = per_group};
    parts.segment_steps = round_up((args->seq_len + segments - 1) / segments, 32);
    parts.segments = (args->seq_len - 1) / parts.segment_steps + 1;
    parts.windows = (parts.segment_steps - 1) / window_steps + 1;
    parts.window_steps = round_up((parts.segment_steps + parts.windows - 1) / parts.windows, 32);
    const size_t both = parts.segments * args->batch * args->channels, all = both * args->states;
    const size_t of_groups = args->batch * args->groups * per_group * args->states * parts.segments;
    const size_t lanes = FUSED_LANES, bytes = dtype_bytes(args->dtype);
    const size_t span = STATE_PASSING_STEPS * (lanes > bytes ? lanes / bytes : 1), tiles = (args->seq_len + 15) / 16;
    const size_t blocks = args->batch * args->groups * per_group;
    const bool several = fused && parts.segments > 1, needs_last = fused && args->seq_len % span != 0;
    parts.sum_steps = args->seq_len;
    if (!fused || per_group > 1) {
        parts.sum_steps = parts.segments * parts.window_steps;
        parts.d_B = next_piece(args, of_groups * parts.window_steps, &parts.bytes);
        parts.d_C = next_piece(args, of_groups * parts.window_steps, &parts.bytes);
    }
    parts.d_A = next_piece(args, all, &parts.bytes);
    parts.d_D = next_piece(args, both, &parts.bytes);
    parts.d_bias = next_piece(args, both, &parts.bytes);
    parts.start = next_piece(args, fused ? all : 0, &parts.bytes);
    parts.end = next_piece(args, several ? all : 0, &parts.bytes);
    parts.product = parts.d_A; /* it has been read when d_A comes */
    parts.so_long = next_piece(args, several ? blocks * FUSED_CHANNELS * tiles : 0, &parts.bytes);
    parts.last_states = next_piece(args, needs_last ? args->batch * args->channels * lanes * 4 : 0, &parts.bytes);
    parts.rest = next_piece(args, 0, &parts.bytes);
    return parts;
}

struct selective_parts selective_parts_of(const struct selective_args *args, size_t per_group)
{
    return lay_out(args, per_group, 1, round_up(args->seq_len, 32), false);
}

/* The partial sums of a window are to stay in a large chip's L2 cache, or to be a tenth of u; and all is to be at most a
   quarter of u, if that is not very little. */
struct selective_parts selective_fused_parts_of(const struct selective_args *args, size_t segments)
{
    const size_t u = args->batch * args->channels * args->seq_len * dtype_bytes(args->dtype);
    const size_t cached = (size_t)52 << 20, most = u / 10 > cached ? u / 10 : cached,
                 per_group = selective_fused_parts(args);
    const size_t limit = u / 4 > SELECTIVE_SMALL ? u / 4 : SELECTIVE_SMALL;
    const struct selective_parts whole = lay_out(args, per_group, segments, round_up(args->seq_len, 32), true);
    const size_t of_step = 2 * args->batch * args->groups * per_group * args->states * whole.segments * sizeof(float);
    const size_t others = per_group > 1 ? whole.bytes - of_step * whole.window_steps : whole.bytes;
    const size_t room = limit > others ? limit - others : 0;
    const size_t steps = (room < most ? room : most) / of_step / 32 * 32;
    return per_group > 1 ? lay_out(args, per_group, segments, steps > 32 ? steps : 32, true) : whole;
}

/* Backward the partial sums, the states at the start of each chunk, and those of a chunk; and where the states need
   more than one pass, what goes from one to the next: y, and backward d_u and d_step. */
size_t selective_steps_workspace(const struct selective_args *args, bool backward)
{
    if (selective_is_empty(args))
        return 0;
    const size_t row = args->batch * args->channels * args->seq_len * sizeof(float);
    const size_t so_far = args->states <= STEPS_ELEMS ? 0 : backward ? 3 * row : row;
    if (!backward)
        return so_far;
    const struct selective_parts parts = selective_parts_of(args, selective_warps(args));
    const size_t saved = (args->seq_len - 1) / STEPS_CHUNK + 1 + STEPS_CHUNK;
    return parts.bytes + so_far +
           args->batch * args->groups * parts.per_group * saved * STEPS_ELEMS * 32 * sizeof(float);
}

/* The partial sums of a group's blocks, and the states before each chunk of each warp. */
size_t selective_state_passing_workspace(const struct selective_args *args, bool backward)
{
    if (!backward || selective_is_empty(args))
        return 0;
    const size_t parts = selective_state_passing_parts(args), chunks = (args->seq_len - 1) / STATE_PASSING_STEPS + 1;
    return selective_parts_of(args, parts).bytes + args->batch * args->groups * parts * chunks * 32 * 8 * sizeof(float);
}

/* For this chip, or enough for any number of segments if there is none to ask. */
size_t selective_fused_workspace(const struct selective_args *args, bool backward)
{
    struct selective_parts parts;
    size_t most = 0;
    if (!backward || selective_is_empty(args))
        return 0;
    if (selective_fused_plan(args, &parts) == cudaSuccess)
        return parts.bytes;
    for (size_t segments = 1; segments <= selective_fused_most_segments(args); segments++) {
        const size_t bytes = selective_fused_parts_of(args, segments).bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}
