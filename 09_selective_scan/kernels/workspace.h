/* SPDX-License-Identifier: MIT */
/* workspace.h - the workspace of fused_backward and state_passing_backward: where the parts of gradients lie
   (workspace.c), and the launches that leave them there and add them up. */
#ifndef SELECTIVE_WORKSPACE_H
#define SELECTIVE_WORKSPACE_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The next `count` floats of the workspace, from byte *used on, which becomes where they end: a multiple of 16. */
float *selective_next_piece(const struct selective_args *args, size_t count, size_t *used);

/* Partial sums of gradients, which blocks leave at the beginning of the workspace: of a group's channels for d_B and
   d_C, of a channel's batches for the others. */
struct selective_parts {
    size_t per_group;             /* parts of a group */
    size_t segments;              /* parts of a sequence */
    size_t segment_steps;         /* steps of each, but the last one */
    float *d_B, *d_C;             /* (batch, groups, per_group, states, seq_len) */
    float *d_A, *d_D, *d_bias;    /* (segments, batch, channels, states), and both others without states */
    float *product, *end, *start; /* of several segments, (segments, batch, channels, states): see fused_carry.cu */
    int saved_floats; /* that fused_states.cu saves of a warp's chunk: eight a lane, and of several segments */
                      /* one for each of up to 32 channels */
    float *rest;      /* where the workspace goes on */
    size_t bytes;     /* up to there */
};

/* Where they lie in args->workspace; if that is NULL, only `bytes` counts. */
struct selective_parts selective_parts_of(const struct selective_args *args, size_t per_group, size_t segments);

/* The parts of fused_backward on this chip. */
cudaError_t selective_fused_plan(const struct selective_args *args, struct selective_parts *parts);

/* ---- parts of a backward pass. They launch and do not wait ---- */

/* Adds up all parts, always in the same order, and writes the gradients that args has (add_up.cu). */
cudaError_t selective_add_up(const struct selective_args *args, const struct selective_parts *parts,
                             cudaStream_t stream);

/* Forward through time: leaves the states before each chunk in parts->rest, (batch, groups, parts of a group, chunks,
   2, 32 lanes, 4) (state_passing_states.cu). */
cudaError_t selective_state_passing_states(const struct selective_args *args, const struct selective_parts *parts,
                                           cudaStream_t stream);

/* The same for fused_backward, (batch, groups, parts of a group, warps of a block, chunks, saved_floats)
   (fused_states.cu). Of several segments it also leaves product, end and start. */
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
