/* SPDX-License-Identifier: MIT */
/* grid.c - the lanes, warps, blocks and segments that a shape gets, and the kernels that take it. */
#include "grid.h"

size_t selective_steps_chunks(const struct selective_args *args)
{
    return args->starts != NULL ? args->seq_len / STEPS_CHUNK + args->batch
                                : args->batch * ((args->seq_len - 1) / STEPS_CHUNK + 1);
}

struct selective_args selective_sequences(const struct selective_args *args)
{
    struct selective_args sequences = *args;
    if (args->starts != NULL)
        sequences.batch = args->num_seqs;
    return sequences;
}

size_t selective_warps(const struct selective_args *args)
{
    return args->groups != 0 ? (args->channels / args->groups + 31) / 32 : 0;
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
    return blocks_of_group(args, FUSED_WARPS, selective_state_passing_lanes(args) / 2);
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
    return selective_state_passing_fits(args) && args->states <= FUSED_STATES;
}

/* The most segments: four rounds on a chip with 132 multiprocessors, and not too short. */
static size_t most_segments(const struct selective_args *args)
{
    const size_t blocks = args->batch * args->groups * selective_fused_parts(args);
    const size_t by_blocks = 4 * 264 / blocks + 1, by_steps = args->seq_len / SEGMENT_STEPS;
    return by_steps < 1 ? 1 : by_blocks < by_steps ? by_blocks : by_steps;
}

/* A multiprocessor of sm_90 has room for two blocks. */
size_t selective_fused_segments(const struct selective_args *args, int multiprocessors)
{
    const size_t at_once = 2 * (size_t)multiprocessors;
    const size_t blocks = args->batch * args->groups * selective_fused_parts(args);
    const size_t most = most_segments(args);
    for (size_t segments = 1; segments < most; segments++) {
        const size_t all = blocks * segments, rounds = (all + at_once - 1) / at_once;
        if (10 * all >= 9 * rounds * at_once)
            return segments;
    }
    return most;
}
