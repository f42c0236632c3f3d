/* SPDX-License-Identifier: MIT */
/* kernels.h - the launchers of chapter 09 and their table. The kernels share selective_check.h, grid.h, workspace.h. */
#ifndef SELECTIVE_KERNELS_H
#define SELECTIVE_KERNELS_H

#include "../operation/arguments.h"
#include "../operation/selective_step.h"

#ifdef __cplusplus
extern "C" {
#endif

selective_launcher selective_fused_scan_forward;  /* a block for each channel, one state after the other, 04's scan */
selective_launcher selective_steps_forward;       /* a thread for each channel, a loop through time */
selective_launcher selective_fused_steps_forward; /* four states a lane, through shared memory */
selective_launcher selective_warp_specialized_forward; /* consumer warps for the states, producer warps for the rest */
selective_launcher selective_state_passing_forward;    /* the warps of a block pass the state from chunk to chunk */
selective_launcher selective_steps_backward;           /* the gradients of steps */
selective_launcher selective_state_passing_backward;   /* those of state_passing */
selective_launcher selective_fused_backward; /* the same without passing: a warp has all chunks of its channels */
selective_launcher
    selective_checkpoints_backward;   /* with little memory: window by window from checkpoints, any states */
selective_launcher selective_forward; /* the fastest of these for the shape and the chip (default.c) */
selective_launcher selective_backward;

selective_step_launcher selective_step; /* one step, in place */

/* What all steps do to the states that come in: a factor for each, (batch, channels, states), or of packed sequences
   (num_seqs, channels, states). Reads delta, delta_bias and A alone. */
cudaError_t selective_transition(const struct selective_args *args, float *transition, cudaStream_t stream);

/* Scratch memory in bytes, on the current device. Forward, only steps needs some, for more than STEPS_ELEMS states. */
size_t selective_steps_workspace(const struct selective_args *args, bool backward);
size_t selective_state_passing_workspace(const struct selective_args *args, bool backward);
size_t selective_fused_workspace(const struct selective_args *args, bool backward);
size_t selective_checkpoints_workspace(const struct selective_args *args, bool backward); /* more makes it faster */
size_t selective_default_workspace(const struct selective_args *args, bool backward);

/* The least with which `default` runs on the current device. Backward it takes selective_checkpoints_backward where its
   workspace is too small for the fastest one. */
size_t selective_least_workspace(const struct selective_args *args, bool backward);

/* The most states that a kernel takes; all others take up to SELECTIVE_MAX_STATES. */
enum { FUSED_STEPS_STATES = 64, WARP_SPECIALIZED_STATES = 32, STATE_PASSING_STATES = 32, FUSED_STATES = 16 };

extern const struct selective_kernel chapter09_kernels[];
extern const struct selective_step_kernel chapter09_step_kernels[];
struct chapter;
extern const struct chapter chapter09, chapter09_step;

#ifdef __cplusplus
}
#endif
#endif
