/* SPDX-License-Identifier: MIT */
/* launch.h - what the launchers and the kernels of chapter 09 share: what a launcher checks first (launch.c), how many
   lanes, warps and blocks a shape gets (grid.c), and what lies where in the workspace (workspace.c). */
#ifndef SELECTIVE_LAUNCH_H
#define SELECTIVE_LAUNCH_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- launch.c: checks ---- */

/* What every launcher checks first. cudaErrorInvalidValue for sizes whose bytes overflow, no state or more than
   SELECTIVE_MAX_STATES, groups that do not divide the channels, a needed pointer that is NULL or a base that is not
   aligned to 16 bytes, a workspace of less than `workspace` bytes; cudaSuccess otherwise. */
cudaError_t selective_check_args(const struct selective_args *args, bool backward, size_t workspace);

/* Whether there is no batch, no channel or no step. */
bool selective_is_empty(const struct selective_args *args);

/* What is left to do then: final_state is initial_state, d_initial_state is d_final_state (0 where that is NULL), and
   gradients that add up over nothing are 0. Queues copies and fills, and does not wait. */
cudaError_t selective_finish_empty(const struct selective_args *args, bool backward, cudaStream_t stream);

/* ---- grid.c: lanes, warps, blocks and segments ---- */

/* These kernels count the steps of a sequence in 32 bits, and some beyond its end. */
enum { SELECTIVE_INT_STEPS = 0x7FFFF000 };

/* steps: the most states in registers; backward also the steps between two saved states. How many warps the channels of
   a group are, a lane for each channel. */
enum { STEPS_CHUNK = 64, STEPS_ELEMS = 16 };
size_t selective_warps(const struct selective_args *args);

/* fused_steps: the most warps of a block, which share B and C; lanes of a channel, warps of a block, and blocks of all
   channels of all batches, of which there must be one. */
enum { FUSED_STEPS_WARPS = 4 };
size_t selective_fused_steps_lanes(const struct selective_args *args);
size_t selective_fused_steps_warps(const struct selective_args *args);
size_t selective_fused_steps_blocks(const struct selective_args *args);

/* warp_specialized: the channels of a block, the blocks of all channels of all batches, and whether it takes these
   sizes. */
enum { WARP_SPECIALIZED_CHANNELS = 16 };
size_t selective_warp_specialized_blocks(const struct selective_args *args);
bool selective_warp_specialized_fits(const struct selective_args *args);

/* state_passing: the steps of a chunk, which a warp takes at a time; lanes of a channel;
   whether it takes these sizes; and how many blocks have the channels of a group, forward and backward, of which there
   must be one. */
enum { STATE_PASSING_STEPS = 8 };
size_t selective_state_passing_lanes(const struct selective_args *args);
bool selective_state_passing_fits(const struct selective_args *args);
size_t selective_state_passing_blocks(const struct selective_args *args);
size_t selective_state_passing_parts(const struct selective_args *args);

/* fused_backward: the warps of a block, the lanes of a channel, the channels of a block, and the fewest steps of a
   segment, a multiple of 32; whether it takes these sizes; how many blocks have the channels of a group. */
enum { FUSED_WARPS = 4, FUSED_LANES = 4, FUSED_CHANNELS = FUSED_WARPS * 64 / FUSED_LANES, SEGMENT_STEPS = 64 };
bool selective_fused_fits(const struct selective_args *args);
size_t selective_fused_parts(const struct selective_args *args);

/* Into how many segments fused_backward cuts a sequence on a chip with that many multiprocessors: the fewest with which
   the rounds of its blocks are nearly full. And the most of any chip. */
size_t selective_fused_segments(const struct selective_args *args, int multiprocessors);
size_t selective_fused_most_segments(const struct selective_args *args);

/* ---- workspace.c ---- */

/* Partial sums of gradients, which blocks leave at the beginning of the workspace: of a group's channels for d_B and
   d_C, of a channel's batches for the others. The first ones are those of a window of time only: a launch for each
   window, from the last to the first, and the sums are added up before the next launch. */
struct selective_parts {
    size_t per_group;             /* parts of a group */
    size_t segments;              /* parts of a sequence, at work at the same time */
    size_t segment_steps;         /* steps of each, but the last one */
    size_t windows, window_steps; /* parts of a segment, one after the other; steps of each, but the last one */
    size_t sum_steps;             /* of a row of the next two */
    float *d_B, *d_C;             /* (batch, groups, per_group, states, segments, window_steps); NULL: fused_backward */
                                  /* writes the gradients at once, as a group has one block */
    float *d_A, *d_D, *d_bias;    /* (segments, batch, channels, states), and both others without states */
    float *start;                 /* of several segments or windows, as d_A: the gradient of the state that goes on */
    float *product, *end;         /* of several segments, as d_A: see fused_carry.cu */
    float *so_long, *last_states; /* of fused_backward: see saved_states.cuh */
    float *rest;                  /* where the workspace goes on */
    size_t bytes;                 /* up to there */
};

/* Where they lie in args->workspace; if that is NULL, only `bytes` counts. */
struct selective_parts selective_parts_of(const struct selective_args *args, size_t per_group);

/* The same for fused_backward, with so many windows as the workspace shall be small: with them it is at most a quarter
   of u, or SELECTIVE_SMALL bytes. */
enum { SELECTIVE_SMALL = 16 << 20 };
struct selective_parts selective_fused_parts_of(const struct selective_args *args, size_t segments);

/* The parts of fused_backward on this chip. */
cudaError_t selective_fused_plan(const struct selective_args *args, struct selective_parts *parts);

/* ---- parts of a backward pass. They launch and do not wait ---- */

/* Adds up all parts of a window, always in the same order, and writes the gradients that args has: d_B and d_C of its
   steps, and with window 0, which is the last one to come, all others (add_up.cu). */
cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts, size_t window,
                             cudaStream_t stream);

/* Forward through time: leaves the states before each chunk in parts->rest, (batch, groups, parts of a group, chunks,
   2, 32 lanes, 4) (state_passing_states.cu). */
cudaError_t selective_state_passing_states(const struct selective_args *args, const struct selective_parts *parts,
                                           cudaStream_t stream);

/* The same for fused_backward, into d_u and d_delta (fused_states.cu). Of several segments it also leaves product, end
   and start. */
cudaError_t selective_fused_states(const struct selective_args *args, const struct selective_parts *parts,
                                   cudaStream_t stream);

/* `end` and `start` of several segments become what comes into each of them: the state before it, and the gradient
   behind it (fused_carry.cu). */
cudaError_t selective_fused_carry(const struct selective_args *args, const struct selective_parts *parts,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
