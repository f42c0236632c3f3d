/* SPDX-License-Identifier: MIT */
/* default.h - the kernels of chapter 06 for a length on a chip, forward, reversed and backward (default.c). */
#ifndef BACKWARD_DEFAULT_H
#define BACKWARD_DEFAULT_H

#include "../05_pipe/default.h"
#include "backward.h"

#ifdef __cplusplus
extern "C" {
#endif

linrec_launcher scan_default;     /* chapter 05's choice, by the kernel of that name in scan.h */
linrec_launcher backward_default; /* what `make TUNED=...` says, and else what backward_choose says */

/* What is fastest backward for this length on this chip. */
struct pipe_choice backward_choose(size_t seq_len, const struct gpu_info *gpu);

#ifdef __cplusplus
}
#endif
#endif
