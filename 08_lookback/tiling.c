/* SPDX-License-Identifier: MIT */
/* tiling.c - see tiling.h. */
#include "tiling.h"

struct tiling tiling_of(const struct linrec_args *args, size_t tile_len)
{
    struct tiling tiling = {.seq_len = args->seq_len, .seq_tiles = 1, .tile_len = (int)tile_len};
    if (args->num_seqs == 0 || args->seq_len == 0)
        return tiling;
    const size_t seq_tiles = (most_elems(args->seq_len) - 1) / tile_len + 1;
    const bool too_many = seq_tiles > 0x7FFFFFFF / args->num_seqs;
    tiling.seq_tiles = too_many ? 1 : (unsigned)seq_tiles;
    tiling.num_tiles = too_many ? 0x80000000u : (unsigned)(args->num_seqs * seq_tiles);
    return tiling;
}
