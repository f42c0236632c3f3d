/* SPDX-License-Identifier: MIT */
/* tiling.h - sequences divided into tiles of one length, for all kernels of chapter 08. Tiles are numbered over all
   sequences: those of sequence 0 first, in the order of the scan. */
#ifndef TILING_H
#define TILING_H

#include "../06_backward/backward.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LOOKBACK_LEAST_TILE = 512, /* elements of the smallest tiles that any launcher makes */
};

struct tiling {
    size_t seq_len;     /* elements of a sequence */
    unsigned seq_tiles; /* tiles of a sequence */
    unsigned num_tiles; /* of all sequences */
    int tile_len;       /* elements of a tile, a multiple of 4 */
};

/* Tiles of tile_len elements. No tiles at all: nothing to do. More than can be numbered: num_tiles is above 2^31 - 1.
   */
struct tiling tiling_of(const struct linrec_args *args, size_t tile_len);

/* A sequence whose length is no multiple of 4 may begin up to 3 elements into its first group of four. */
static inline size_t most_elems(size_t seq_len)
{
    return seq_len % 4 == 0 ? seq_len : seq_len + 3;
}

#ifdef __cplusplus
}
#endif
#endif
