/* SPDX-License-Identifier: MIT */
/* bench.h - chapter 07: the kernels of chapters 02 to 06 side by side. */
#ifndef BENCH_H
#define BENCH_H

#include "../common/harness/harness.h"
#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the program compares, and what tuning and profiling go through: chapters 02 to 06, and the kernels of this
   chapter's own table: a launch that does nothing, and what the CUDA Toolkit brings; but the simulator does not run C++
   libraries. */
extern const struct chapter chapter07;
extern const struct linrec_kernel chapter07_kernels[]; /* the chapter's own */

/* A kernel that does nothing, in one block, whatever the shape. */
linrec_launcher empty_forward;

/* CUB's device-wide scan over pairs (c, x), for one sequence: cudaErrorInvalidValue for more. Forward and reverse, up
   to 2^31 - 1 elements, with cub_workspace_size bytes of workspace; cudaErrorInvalidValue if there are fewer. */
linrec_launcher cub_scan_forward;

/* The same by key, the key of an element being its sequence: any number of them, up to 2^31 - 1 elements in all. */
linrec_launcher cub_by_key_forward;

/* CUB's scan for a block, tile after tile, a block for each sequence. Forward only. */
linrec_launcher cub_block_scan_forward;

/* Workspace of the two that scan the whole device, in bytes. */
size_t cub_scan_workspace(const struct linrec_args *args), cub_by_key_workspace(const struct linrec_args *args);

#ifdef __cplusplus
}
#endif
#endif
