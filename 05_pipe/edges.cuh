/* SPDX-License-Identifier: MIT */
/* edges.cuh - the edges of a sequence: how much of a tile, and whether a group of four, is the sequence's own. For
   groups.cuh, and for chapter 06's direction.cuh. */
#ifndef EDGES_CUH
#define EDGES_CUH

#include <stddef.h>

/* How many of the tile_len elements from `base` on come before `end`. */
static __device__ __forceinline__ int elems_left(size_t base, size_t end, int tile_len)
{
    return base >= end ? 0 : end - base < (size_t)tile_len ? (int)(end - base) : tile_len;
}

/* Whether all elements of the group at `at` are the sequence's own. */
static __device__ __forceinline__ bool is_whole(int at, int first, int last)
{
    return at >= first && at + 4 <= last;
}

#endif
