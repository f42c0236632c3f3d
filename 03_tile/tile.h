/* tile.h - chapter 03: one block per sequence, the whole sequence in the registers of its threads. */
#ifndef TILE_H
#define TILE_H

#include "../common/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The compiled sizes: the most elements a thread may hold. A launcher takes the first with which its threads suffice
   for the sequence: up to 4 * 256 elements, 8 * 512, 16 * 1024. */
#define TILE_SIZES(X) X(4, 256) X(8, 512) X(16, 1024)
enum { TILE_MAX_LEN = 16 * 1024 };

/* The threads that a launch takes for this length: whole warps, and as few as hold the sequence. 0 if it is too long.
 */
static inline unsigned tile_threads(size_t seq_len)
{
#define THREADS(elems, max_threads)                                                                                    \
    if (seq_len <= (elems) * (max_threads))                                                                            \
        return (unsigned)((seq_len + (elems)*32 - 1) / ((elems)*32) * 32);
    TILE_SIZES(THREADS)
#undef THREADS
    return 0;
}

/* Which thread of a block holds element pos, as text. */
void tile_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size);

/* The threads' results combined by one thread, or by all of them step by step in shared memory. Forward only, up to
   TILE_MAX_LEN elements; longer sequences and more than 2^31 - 1 of them are cudaErrorInvalidValue. */
linrec_launcher tile_serial_forward, tile_shared_forward;

extern const struct linrec_kernel chapter03_kernels[];

#ifdef __cplusplus
}
#endif
#endif
