/* SPDX-License-Identifier: MIT */
/* layer_check.h - what all launchers of the layer begin with (layer_check.c). */
#ifndef LAYER_CHECK_H
#define LAYER_CHECK_H

#include "../operation/layer_arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the arguments, and does what is left where there is nothing to compute: without a step final_state is the
   initial one, or 0. *done says that there is no more to do. cudaErrorInvalidValue for sizes whose bytes overflow, a dk
   that is 0 or above LAYER_MAX_DK, groups that do not divide the heads, a needed pointer that is NULL, a base that is
   not aligned to 16 bytes, or a workspace of less than `workspace` bytes. Queues a copy at most; does not wait. */
cudaError_t layer_begin(const struct layer_args *args, size_t workspace, cudaStream_t stream, bool *done);

/* Whether the sizes, the type and packed sequences are as layer_args says. */
bool layer_sizes_fit(const struct layer_args *args);

/* The same before a backward pass. Where there is nothing to add up it sets gradients to 0, and without a step
   d_initial_state to d_final_state. `workspace_size` says how many bytes the launcher needs. */
cudaError_t layer_backward_begin(const struct layer_backward_args *args,
                                 size_t (*workspace_size)(const struct layer_args *args), cudaStream_t stream,
                                 bool *done);

#ifdef __cplusplus
}
#endif
#endif
