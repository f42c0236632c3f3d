/* SPDX-License-Identifier: MIT */
/* backward.h - chapter 06: both directions, and the gradients in one kernel. What all launchers share; scan.h,
   gradients.h and default.h declare them. */
#ifndef BACKWARD_H
#define BACKWARD_H

#include "../05_pipe/pipe.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLOCK_MAX_LEN = 16 * PIPE_MAX_THREADS }; /* of a sequence, for per_block with 4 rows */

/* Limits, launch configuration and errors of all launchers are as in chapter 05. All but backward_two_pass take initial
   and final states, too. */
extern const struct linrec_kernel chapter06_kernels[];

/* What every launcher of this chapter checks: the arguments, and the launch configuration. */
cudaError_t backward_check(const struct linrec_args *args, bool backward, const struct launch_config *config);

#ifdef __cplusplus
}
#endif
#endif
