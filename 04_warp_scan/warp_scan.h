/* SPDX-License-Identifier: MIT */
/* warp_scan.h - chapter 04: the threads' results combined by warp shuffles. */
#ifndef WARP_SCAN_H
#define WARP_SCAN_H

#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Chapter 03's tile, up to 16 * 1024 elements, one block per sequence. The first three stop after a level: they load
   and store everything, but their results are not the recurrence (except for sequences that fit one thread, or one
   warp). Forward only. */
linrec_launcher warp_scan_io_only_forward;   /* coeffs + inputs */
linrec_launcher warp_scan_to_thread_forward; /* the recurrence inside each thread's part */
linrec_launcher warp_scan_to_warp_forward;   /* inside each warp's part */
linrec_launcher warp_scan_to_block_forward;  /* all of it */

extern const struct linrec_kernel chapter04_kernels[];

#ifdef __cplusplus
}
#endif
#endif
