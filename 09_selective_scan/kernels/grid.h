/* SPDX-License-Identifier: MIT */
/* grid.h - lanes, warps, blocks and segments that a shape gets in each kernel of chapter 09, and which kernels take it
   (grid.c). */
#ifndef SELECTIVE_GRID_H
#define SELECTIVE_GRID_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* These kernels count the steps of a sequence in 32 bits, and some beyond its end. */
enum { SELECTIVE_INT_STEPS = 0x7FFFF000 };

/* steps: the most states in registers; backward also the steps between two saved states. How many warps the channels of
   a group are, a lane for each channel. */
enum { STEPS_CHUNK = 64, STEPS_ELEMS = 16 };
size_t selective_warps(const struct selective_args *args);

/* Chunks of all batches, or of all packed sequences, as selective_sequences gives them: of these no more than that. */
size_t selective_steps_chunks(const struct selective_args *args);

/* Packed sequences as batches, which is how kernels go through them: the same arguments with their number as batch. */
struct selective_args selective_sequences(const struct selective_args *args);

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

/* fused_backward: the warps of a block, and the fewest steps of a segment, a multiple of 32; whether it takes these
   sizes; how many blocks have the channels of a group. */
enum { FUSED_WARPS = 4, SEGMENT_STEPS = 64 };
bool selective_fused_fits(const struct selective_args *args);
size_t selective_fused_parts(const struct selective_args *args);

/* Into how many segments fused_backward cuts a sequence on a chip with that many multiprocessors: the fewest with which
   the rounds of its blocks are nearly full. */
size_t selective_fused_segments(const struct selective_args *args, int multiprocessors);

#ifdef __cplusplus
}
#endif
#endif
