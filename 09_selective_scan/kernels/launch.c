/* launch.c - what the launchers of this chapter check and do alike. See kernels.h. */
#include "../../common/cuda/gpu_info.h"
#include "kernels.h"

#include <stdint.h>

bool selective_is_empty(const struct selective_args *args)
{
    return args->batch == 0 || args->channels == 0 || args->seq_len == 0;
}

/* Whether these sizes multiplied are bytes that can be counted, for elements of 16 bytes. */
static bool is_countable(size_t a, size_t b, size_t c, size_t d)
{
    const size_t sizes[] = {a, b, c, d};
    size_t left = PTRDIFF_MAX / 16;
    for (int i = 0; i < 4; i++) {
        if (sizes[i] != 0 && left / sizes[i] == 0)
            return false;
        left /= sizes[i] != 0 ? sizes[i] : 1;
    }
    return true;
}

static bool sizes_fit(const struct selective_args *args)
{
    if (args->states < 1 || args->states > SELECTIVE_MAX_STATES)
        return false;
    if (args->channels != 0 && (args->groups == 0 || args->channels % args->groups != 0))
        return false;
    return is_countable(args->batch, args->channels, args->seq_len, 1) &&
           is_countable(args->batch, args->channels, args->states, 1) &&
           is_countable(args->batch, args->groups, args->states, args->seq_len);
}

/* Whether a pointer is aligned, and there if it must be. */
static bool is_fit(const void *pointer, bool needed)
{
    return pointer != NULL ? (uintptr_t)pointer % 16 == 0 : !needed;
}

cudaError_t selective_check_args(const struct selective_args *args, bool backward, size_t workspace)
{
    const void *const read[] = {args->u, args->delta, args->A, args->B, args->C};
    const void *const optional[] = {args->D, args->z, args->delta_bias, args->initial_state};
    const void *const d_needed[] = {args->d_out, args->d_u, args->d_delta, args->d_A, args->d_B, args->d_C};
    const void *const d_optional[] = {args->d_final_state, args->d_D, args->d_z, args->d_delta_bias,
                                      args->d_initial_state};
    bool fit = sizes_fit(args) && (unsigned)args->dtype < NUM_DTYPES;
    if (!fit)
        return cudaErrorInvalidValue;
    if (selective_is_empty(args))
        return cudaSuccess;
    for (int i = 0; i < 5; i++)
        fit = fit && is_fit(read[i], true);
    for (int i = 0; i < 4; i++)
        fit = fit && is_fit(optional[i], false);
    for (int i = 0; i < 6 && backward; i++)
        fit = fit && is_fit(d_needed[i], true);
    for (int i = 0; i < 5 && backward; i++)
        fit = fit && is_fit(d_optional[i], false);
    if (backward) /* there is no gradient of what is not there */
        fit = fit && (args->d_z == NULL) == (args->z == NULL) && (args->d_D == NULL || args->D != NULL) &&
              (args->d_delta_bias == NULL || args->delta_bias != NULL);
    else
        fit = fit && is_fit(args->out, true) && is_fit(args->final_state, false);
    if (workspace != 0)
        fit = fit && is_fit(args->workspace, true) && args->workspace_size >= workspace;
    return fit ? cudaSuccess : cudaErrorInvalidValue;
}

/* Queues a copy of `count` floats, or zeros if there is nothing to copy from. */
static cudaError_t put(float *to, const float *from, size_t count, cudaStream_t stream)
{
    if (to == NULL || count == 0)
        return cudaSuccess;
    return from != NULL ? cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, stream)
                        : cudaMemsetAsync(to, 0, count * sizeof *to, stream);
}

cudaError_t selective_finish_empty(const struct selective_args *args, bool backward, cudaStream_t stream)
{
    const size_t all_states = args->batch * args->channels * args->states;
    if (!backward)
        return put(args->final_state, args->initial_state, all_states, stream);

    const size_t group_rows = args->batch * args->groups * args->states * args->seq_len;
    float *const sums[] = {args->d_A, args->d_D, args->d_delta_bias};
    const size_t counts[] = {args->channels * args->states, args->channels, args->channels};
    void *const stored_sums[] = {args->d_B, args->d_C};
    cudaError_t error = put(args->d_initial_state, args->d_final_state, all_states, stream);
    for (int i = 0; i < 3 && error == cudaSuccess; i++)
        error = put(sums[i], NULL, counts[i], stream);
    for (int i = 0; i < 2 && error == cudaSuccess; i++)
        if (stored_sums[i] != NULL && group_rows != 0)
            error = cudaMemsetAsync(stored_sums[i], 0, group_rows * dtype_bytes(args->dtype), stream);
    return error;
}

/* ---- scratch memory ---- */

size_t selective_warps(const struct selective_args *args)
{
    return args->groups != 0 ? (args->channels / args->groups + 31) / 32 : 0;
}

/* The next `count` floats of the workspace, from byte *used on, which becomes where they end: a multiple of 16. */
static float *next_piece(const struct selective_args *args, size_t count, size_t *used)
{
    float *piece = args->workspace != NULL ? (float *)((char *)args->workspace + *used) : NULL;
    *used += (count + 3) / 4 * 16;
    return piece;
}

struct selective_parts selective_parts_of(const struct selective_args *args, size_t per_group, size_t segments)
{
    const size_t both = segments * args->batch * args->channels, carries = segments > 1 ? both * args->states : 0;
    const size_t of_groups = args->batch * args->groups * per_group * args->states * args->seq_len;
    const size_t spans = (args->seq_len + 31) / 32; /* a segment is a multiple of 32 steps */
    const size_t of_segment = (spans + segments - 1) / segments;
    struct selective_parts parts = {
        .per_group = per_group, .segments = (spans + of_segment - 1) / of_segment, .segment_steps = of_segment * 32};
    parts.saved_floats = 32 * 8 + (parts.segments > 1 ? 32 : 0);
    parts.d_B = next_piece(args, of_groups, &parts.bytes);
    parts.d_C = next_piece(args, of_groups, &parts.bytes);
    parts.d_A = next_piece(args, both * args->states, &parts.bytes);
    parts.d_D = next_piece(args, both, &parts.bytes);
    parts.d_bias = next_piece(args, both, &parts.bytes);
    parts.product = next_piece(args, carries, &parts.bytes);
    parts.end = next_piece(args, carries, &parts.bytes);
    parts.start = next_piece(args, carries, &parts.bytes);
    parts.rest = next_piece(args, 0, &parts.bytes);
    return parts;
}

/* Backward the partial sums, the states at the start of each chunk, and those of a chunk; and where the states need
   more than one turn, what goes from one to the next: y, and backward d_u and d_step. */
size_t selective_steps_workspace(const struct selective_args *args, bool backward)
{
    if (selective_is_empty(args))
        return 0;
    const size_t row = args->batch * args->channels * args->seq_len * sizeof(float);
    const size_t so_far = args->states <= STEPS_ELEMS ? 0 : backward ? 3 * row : row;
    if (!backward)
        return so_far;
    const struct selective_parts parts = selective_parts_of(args, selective_warps(args), 1);
    const size_t saved = (args->seq_len - 1) / STEPS_CHUNK + 1 + STEPS_CHUNK;
    return parts.bytes + so_far +
           args->batch * args->groups * parts.per_group * saved * STEPS_ELEMS * 32 * sizeof(float);
}

/* Coefficients, inputs and outputs of all recurrences. */
size_t selective_expanded_workspace(const struct selective_args *args, bool backward)
{
    const size_t count = args->batch * args->channels * args->states * args->seq_len;
    return backward ? 0 : 3 * ((count + 3) / 4 * 16);
}

size_t selective_fused_steps_lanes(const struct selective_args *args)
{
    size_t lanes = 1;
    while (4 * lanes < args->states)
        lanes *= 2;
    return lanes;
}

/* 32 channels are enough for a block. */
size_t selective_fused_steps_warps(const struct selective_args *args)
{
    const size_t lanes = selective_fused_steps_lanes(args);
    return lanes < FUSED_STEPS_WARPS ? lanes : FUSED_STEPS_WARPS;
}

/* How many blocks the channels of a group are, where a warp has 32 / lanes of them. */
static size_t blocks_of_group(const struct selective_args *args, size_t warps, size_t lanes)
{
    const size_t channels = warps * (32 / lanes);
    return args->groups != 0 ? (args->channels / args->groups + channels - 1) / channels : 0;
}

size_t selective_fused_steps_blocks(const struct selective_args *args)
{
    return args->batch * args->groups *
           blocks_of_group(args, selective_fused_steps_warps(args), selective_fused_steps_lanes(args));
}

size_t selective_state_passing_lanes(const struct selective_args *args)
{
    return args->states <= 8 ? 2 : args->states <= 16 ? 4 : 8;
}

size_t selective_state_passing_blocks(const struct selective_args *args)
{
    return blocks_of_group(args, 1, selective_state_passing_lanes(args));
}

/* A lane has two channels there: a block has those of lanes / 2 lanes a channel. */
size_t selective_state_passing_parts(const struct selective_args *args)
{
    return blocks_of_group(args, 1, selective_state_passing_lanes(args) / 2);
}

size_t selective_fused_parts(const struct selective_args *args)
{
    return blocks_of_group(args, SPAN_WARPS, selective_state_passing_lanes(args) / 2);
}

size_t selective_warp_specialized_blocks(const struct selective_args *args)
{
    return args->batch * args->groups * blocks_of_group(args, WARP_SPECIALIZED_CHANNELS / 4, 8); /* 4 channels a warp */
}

bool selective_warp_specialized_fits(const struct selective_args *args)
{
    return args->states <= WARP_SPECIALIZED_STATES && args->seq_len <= SELECTIVE_INT_STEPS &&
           selective_warp_specialized_blocks(args) <= 0x7FFFFFFF;
}

bool selective_state_passing_fits(const struct selective_args *args)
{
    return args->states != 0 && args->states <= STATE_PASSING_STATES && args->seq_len <= SELECTIVE_INT_STEPS &&
           args->batch * args->channels <= 0x7FFFFFFF / args->states; /* it counts the rows of arrays by int */
}

bool selective_fused_fits(const struct selective_args *args)
{
    return selective_state_passing_fits(args) && args->states <= SPAN_STATES;
}

/* The most segments of any chip: four rounds on one with 132 multiprocessors, and not too short. */
static size_t most_segments(const struct selective_args *args, size_t blocks)
{
    const size_t by_blocks = 4 * 264 / blocks + 1, by_steps = args->seq_len / SEGMENT_STEPS;
    return by_steps < 1 ? 1 : by_blocks < by_steps ? by_blocks : by_steps;
}

/* A multiprocessor of sm_90 has room for two blocks. */
size_t selective_fused_segments(const struct selective_args *args, int multiprocessors)
{
    const size_t at_once = 2 * (size_t)multiprocessors;
    const size_t blocks = args->batch * args->groups * selective_fused_parts(args);
    const size_t most = most_segments(args, blocks);
    for (size_t segments = 1; segments < most; segments++) {
        const size_t all = blocks * segments, rounds = (all + at_once - 1) / at_once;
        if (10 * all >= 9 * rounds * at_once)
            return segments;
    }
    return most;
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
    if (!backward || selective_is_empty(args))
        return 0;
    const size_t per_group = selective_fused_parts(args);
    const size_t most = most_segments(args, args->batch * args->groups * per_group);
    const struct selective_parts parts = selective_parts_of(args, per_group, most);
    return gradients_workspace(args, &parts, SPAN_WARPS);
}
