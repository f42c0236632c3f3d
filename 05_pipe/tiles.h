/* SPDX-License-Identifier: MIT */
/* tiles.h - the launchers of blocked, staged, float4 and prefetch, which have a tile in registers (tiles.md,
   float4.md). */
#ifndef PIPE_TILES_H
#define PIPE_TILES_H

#include "pipe.h"

#ifdef __cplusplus
extern "C" {
#endif

linrec_launcher pipe_blocked_forward;  /* each thread loads its own consecutive elements */
linrec_launcher pipe_staged_forward;   /* coalesced through shared memory, then each thread its own elements */
linrec_launcher pipe_float4_forward;   /* a float4 per lane: coalesced, and each thread its own elements */
linrec_launcher pipe_prefetch_forward; /* the same; the next tile is loaded while this one is scanned */

#ifdef __cplusplus
}
#endif
#endif
