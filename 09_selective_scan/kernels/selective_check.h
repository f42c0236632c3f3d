/* SPDX-License-Identifier: MIT */
/* selective_check.h - the checks that all launchers of chapter 09 begin with, and the work left where there is nothing
   to compute (selective_check.c). */
#ifndef SELECTIVE_CHECK_H
#define SELECTIVE_CHECK_H

#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What every launcher checks first. cudaErrorInvalidValue for sizes whose bytes overflow, no state or more than
   SELECTIVE_MAX_STATES, groups that do not divide the channels, a needed pointer that is NULL or a base that is not
   aligned to 16 bytes, a workspace of less than `workspace` bytes; cudaSuccess otherwise. */
cudaError_t selective_check_args(const struct selective_args *args, bool backward, size_t workspace);

/* The same for a launcher that takes packed sequences, which the others refuse. */
cudaError_t selective_check_packed(const struct selective_args *args, bool backward, size_t workspace);

/* What of that does not need the pointers: the sizes and the type. */
bool selective_sizes_fit(const struct selective_args *args);

/* Whether there is no batch, no channel or no step. */
bool selective_is_empty(const struct selective_args *args);

/* What is left to do then: final_state is initial_state, d_initial_state is d_final_state (0 where that is NULL), and
   gradients that add up over nothing are 0. Queues copies and fills, and does not wait. */
cudaError_t selective_finish_empty(const struct selective_args *args, bool backward, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
