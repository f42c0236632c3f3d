/* SPDX-License-Identifier: MIT */
/* gradients.h - the launchers of the gradients: d_inputs and d_coeffs from d_outputs, coeffs and outputs, as linrec.h
   defines them. */
#ifndef BACKWARD_GRADIENTS_H
#define BACKWARD_GRADIENTS_H

#include "backward.h"

#ifdef __cplusplus
extern "C" {
#endif

linrec_launcher backward_two_pass;       /* d_inputs by a scan, then d_coeffs by a second kernel */
linrec_launcher backward_prefetch;       /* both in one kernel, the next tile prefetched into registers */
linrec_launcher backward_async;          /* cp.async into stages of shared memory (sm_80) */
linrec_launcher backward_tma_evict_last; /* TMA bulk copies with a cache hint (sm_90) */
linrec_launcher backward_per_block;      /* each block a whole sequence at once, of up to BLOCK_MAX_LEN elements */
linrec_launcher backward_flat;           /* each warp by itself, several short sequences side by side */

#ifdef __cplusplus
}
#endif
#endif
