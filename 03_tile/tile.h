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

/* Which of them a sequence takes, counted from 0; as many as there are if it is too long. */
static inline int tile_size(size_t seq_len)
{
    int size = 0;
#define COUNT(elems, max_threads) size += seq_len > (elems) * (max_threads);
    TILE_SIZES(COUNT)
#undef COUNT
    return size;
}

/* The threads that a launch takes: whole warps, and as few as hold the sequence. 0 if it is too long. */
static inline unsigned tile_threads(size_t seq_len)
{
#define ELEMS(elems, max_threads) elems,
    const size_t elems[] = {TILE_SIZES(ELEMS) 0};
#undef ELEMS
    const size_t per_warp = elems[tile_size(seq_len)] * 32;
    return per_warp == 0 ? 0 : (unsigned)((seq_len + per_warp - 1) / per_warp * 32);
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
