/* SPDX-License-Identifier: MIT */
/* checkpoints.h - shared by checkpoints_backward's files: how a sequence is cut into windows, what lies where in
   the workspace, and what checkpoints.c launches. */
#ifndef SELECTIVE_CHECKPOINTS_H
#define SELECTIVE_CHECKPOINTS_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The states of a slice, which a launch takes at a time; and the floats before a chunk of a warp: eight a lane. */
enum { CHECKPOINT_STATES = 16, SAVED_FLOATS = 32 * 8 };

/* How the gradients are computed window by window, and what lies where in the workspace. Arrays of a slice have its
   states only, and those of all slices lie one after the other. */
struct selective_windows {
    size_t per_group;               /* blocks of a group's channels */
    size_t segments, segment_steps; /* parts of a sequence, at work at the same time; steps of each but the last one */
    size_t windows, window_steps;   /* parts of a segment, one after the other; steps of each but the last one */
    size_t slices, all_states, first_state; /* how many slices and states there are; the first state of this slice */
    float *A;                               /* of the slice, (channels, states) */
    float *d_D, *d_bias;                    /* (segments, batch, channels): sums over the windows so far */
    float *d_A;                             /* of the slice, (segments, batch, channels, states): the same */
    float *end, *start;    /* as d_A: the state before each segment, and the gradient behind its next window */
    float *product;        /* as d_A, of several segments: see fused_carry.cu */
    float *first, *last;   /* (batch, channels, states), of several segments: what comes into the sequence */
    float *d_B, *d_C;      /* (segments, batch, groups, per_group, states, window_steps): of each block */
    float *saved, *so_far; /* of each warp of each block, for each segment and chunk of 8 steps: SAVED_FLOATS; and of */
                           /* several slices y, d_u and the step's gradient of its channels: three times 8 each */
    size_t bytes;
};

/* The lanes of a channel: 2 for up to 8 states, else 4. */
static inline size_t selective_checkpoints_lanes(const struct selective_windows *windows)
{
    return windows->all_states <= 8 ? 2 : 4;
}

/* Whether checkpoints_backward takes these sizes. */
bool selective_checkpoints_fit(const struct selective_args *args);

/* What checkpoints.c launches, each for one slice, whose states and A are those of `args`: the states before each
   window, and of several segments what fused_carry.cu needs; the states before each chunk of a window (both
   checkpoints_states.cu); its gradients (checkpoints_backward.cu); its d_B and d_C, added up (window_sums.cu). */
cudaError_t selective_checkpoints_states(const struct selective_args *args, const struct selective_windows *windows,
                                         cudaStream_t stream);
cudaError_t selective_window_states(const struct selective_args *args, const struct selective_windows *windows,
                                    size_t window, cudaStream_t stream);
cudaError_t selective_window_backward(const struct selective_args *args, const struct selective_windows *windows,
                                      size_t window, cudaStream_t stream);
cudaError_t selective_window_sums(const struct selective_args *args, const struct selective_windows *windows,
                                  size_t window, cudaStream_t stream);

/* Copies `states` floats of each of `rows` rows, which are `apart` from each other; 0 if `from` is NULL
   (window_sums.cu). */
cudaError_t selective_copy_states(size_t rows, size_t states, float *to, size_t to_apart, const float *from,
                                  size_t from_apart, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
