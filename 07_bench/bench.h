/* bench.h - chapter 07: all kernels side by side. */
#ifndef BENCH_H
#define BENCH_H

#include "../common/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kernels of chapters 02 on and this chapter's own, as one table. Those of other chapters are named
   "chapter/variant", and the last chapter's default is the default. Built by the first call; the same table ever
   after. */
const struct linrec_kernel *bench_kernels(void);

/* This chapter's own: a launch that does nothing, and what the CUDA Toolkit brings; but the simulator does not run C++
   libraries. */
extern const struct linrec_kernel chapter07_kernels[];

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
