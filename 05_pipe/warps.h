/* SPDX-License-Identifier: MIT */
/* warps.h - the launchers of flat and per_warp, whose warps work by themselves on short sequences (further/short.md),
   and which sequences these take. Chapter 06's flat, flat_backward and per_warp take the same. */
#ifndef PIPE_WARPS_H
#define PIPE_WARPS_H

#include "pipe.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PIPE_FLAT_MAX_LEN = 1 << 30, /* flat counts a warp's elements with 32 bits */
    PIPE_PER_WARP_MAX_LEN = 512, /* per_warp has 4 rows at most */
};

linrec_launcher pipe_flat_forward;     /* each warp by itself, several short sequences side by side */
linrec_launcher pipe_per_warp_forward; /* each warp by itself, a whole sequence at once */

/* Whether per_warp can take sequences of this length with so many rows. A sequence whose length is no multiple of 4 may
   begin up to 3 elements into its first float4. (With an even length it is 2 at most; the rule asks for 3 there, too,
   and so loses 254 and 510.) */
static inline bool pipe_warp_holds(int rows, size_t seq_len)
{
    return (seq_len % 4 == 0 ? seq_len : seq_len + 3) <= (size_t)rows * PIPE_ROW;
}

/* flat: how many sequences a warp takes: as many as fill a row, or one. */
static inline int pipe_flat_seqs(size_t seq_len)
{
    return seq_len < PIPE_ROW ? PIPE_ROW / (int)seq_len : 1;
}

#ifdef __cplusplus
}
#endif
#endif
