/* SPDX-License-Identifier: MIT */
/* scan.h - the launchers of chapter 05's kernels in both directions: the recurrence forward or reversed. */
#ifndef BACKWARD_SCAN_H
#define BACKWARD_SCAN_H

#include "backward.h"

#ifdef __cplusplus
extern "C" {
#endif

linrec_launcher scan_float4, scan_prefetch, scan_async, scan_tma_evict_last, scan_flat, scan_per_warp;
linrec_launcher scan_per_block; /* float4 for a sequence that is a single tile, of up to BLOCK_MAX_LEN elements */

#ifdef __cplusplus
}
#endif
#endif
