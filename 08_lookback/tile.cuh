/* SPDX-License-Identifier: MIT */
/* tile.cuh - a tile of a sequence and its place in memory, for all kernels of chapter 08, and for chapter 12's.
   tiling.h says how many there are and how long they are. */
#ifndef TILE_CUH
#define TILE_CUH

#include "../06_backward/direction.cuh"
#include "tiling.h"

/* Tiles of a sequence are counted in the order of the scan, and its edges are chapter 06's:

       sequence 0                     sequence 1
       | tile 0 | tile 1 | tile 2  |  | tile 3 | tile 4 | tile 5  |          seq_tiles = 3
         number_in_seq 0, 1, 2           0, 1, 2                                                  */
struct tile {
    size_t at;              /* its origin in the arrays */
    int first, last;        /* its own elements, counted from there */
    unsigned number_in_seq; /* 0: nothing comes into it */
    bool is_last;           /* of its sequence */
};

template <int from_end>
static __device__ __forceinline__ struct tile tile_of(unsigned seq, unsigned number_in_seq, const struct tiling *tiling)
{
    const size_t start = seq * tiling->seq_len, stop = start + tiling->seq_len;
    const size_t origin = origin_of<from_end>(start, stop);
    const int begin = (int)(from_end ? origin - stop : start - origin);
    const size_t base = (size_t)number_in_seq * tiling->tile_len;
    struct tile tile;
    tile.number_in_seq = number_in_seq;
    tile.at = tile_at<from_end>(origin, base);
    tile.first = base == 0 ? begin : 0;
    tile.last = elems_left(base, begin + tiling->seq_len, tiling->tile_len);
    tile.is_last = base + tiling->tile_len >= begin + tiling->seq_len;
    return tile;
}

/* The place in its tile of the sequence's last element, -1 if it is in another one: the last tile may be empty. */
static __device__ __forceinline__ int tile_end(const struct tile *tile)
{
    return tile->is_last ? tile->last - 1 : -1;
}

template <int from_end>
static __device__ __forceinline__ struct tile tile_number(unsigned number, const struct tiling *tiling)
{
    return tile_of<from_end>(number / tiling->seq_tiles, number % tiling->seq_tiles, tiling);
}

#endif
