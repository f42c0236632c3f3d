/* SPDX-License-Identifier: MIT */
/* backward.h - chapter 06: both directions, and the gradients in one kernel. */
#ifndef BACKWARD_H
#define BACKWARD_H

#include "../05_pipe/pipe.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BLOCK_MAX_LEN = 16 * PIPE_MAX_THREADS }; /* of a sequence, for per_block with 4 rows */

/* Chapter 05's kernels, forward or reversed; limits, launch configuration and errors as there. All launchers here but
   backward_two_pass take initial and final states, too. */
linrec_launcher scan_float4, scan_prefetch, scan_async, scan_tma_evict_last, scan_flat, scan_per_warp, scan_default;
linrec_launcher scan_per_block; /* float4 for a sequence that is a single tile, of up to BLOCK_MAX_LEN elements */

/* The gradients: d_inputs and d_coeffs from d_outputs, coeffs and outputs, as linrec.h defines them. */
linrec_launcher backward_two_pass;       /* d_inputs by a scan, then d_coeffs by a second kernel */
linrec_launcher backward_prefetch;       /* both in one kernel, the next tile prefetched into registers */
linrec_launcher backward_async;          /* cp.async into stages of shared memory (sm_80) */
linrec_launcher backward_tma_evict_last; /* TMA bulk copies with a cache hint (sm_90) */
linrec_launcher backward_per_block;      /* each block a whole sequence at once, of up to BLOCK_MAX_LEN elements */
linrec_launcher backward_flat;           /* each warp by itself, several short sequences side by side */
linrec_launcher backward_default;        /* one of these, by length and chip */

/* What backward_default takes for this length on this chip. */
struct pipe_choice backward_choose(size_t seq_len, const struct gpu_info *gpu);

/* What every launcher of this chapter checks: the arguments, and the launch configuration. */
cudaError_t backward_check(const struct linrec_args *args, bool backward, const struct launch_config *config);

extern const struct linrec_kernel chapter06_kernels[];

#ifdef __cplusplus
}
#endif
#endif
