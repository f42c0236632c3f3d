/* SPDX-License-Identifier: MIT */
/* tile.h - chapter 03: one block per sequence, the whole sequence in the registers of its threads. */
#ifndef TILE_H
#define TILE_H

#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The longest sequence: 1024 threads, the most that a block may have, with 16 elements each. */
enum { TILE_MAX_LEN = 16 * 1024 };

/* How many elements a thread may hold. The kernels are compiled for three sizes: 4 elements in up to 256 threads, 8 in
   up to 512, 16 in up to 1024. A launcher takes the first that can hold the sequence. */
static inline int tile_elems(size_t seq_len)
{
    return seq_len <= 4 * 256 ? 4 : seq_len <= 8 * 512 ? 8 : 16;
}

/* The threads that a launch takes: whole warps, and as few as hold the sequence. */
static inline unsigned tile_threads(size_t seq_len)
{
    const size_t per_warp = (size_t)tile_elems(seq_len) * 32;
    return (unsigned)((seq_len + per_warp - 1) / per_warp * 32);
}

/* Which thread of a block holds element pos, as a number and as text. */
size_t tile_thread(size_t seq_len, size_t pos);
void tile_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size);

/* The threads' results combined by one thread, or by all of them step by step in shared memory. Forward only, up to
   TILE_MAX_LEN elements; longer sequences and more than 2^31 - 1 of them are cudaErrorInvalidValue. */
linrec_launcher tile_serial_forward, tile_shared_forward;

extern const struct linrec_kernel chapter03_kernels[];

#ifdef __cplusplus
}
#endif
#endif
