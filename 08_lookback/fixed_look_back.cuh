/* SPDX-License-Identifier: MIT */
/* fixed_look_back.cuh - look-back in a fixed order, for resident.cu and resident_backward.cu: what is joined depends on
   the tile's number alone, and not on who was late. A sequence's tiles are taken in windows. Each tile publishes its
   aggregate, but the last one of a window its inclusive prefix in place of it:

       window         0                          1                          2
       tile           0     1    ...   255       256   257   ...   511      512   513   ...
       publishes      A     A    ...    P         A     A    ...    P        A     A    ...
                                        ^^^^^^^^^^^^^^^^^^^^^
       tile 300 joins the P before its window with the A of tiles 256 to 299

   All these are asked for at once. A lane has neighbouring tiles, as many as all lanes need to have each once:

       lane           0                1                2         ...
       tiles          256 257          258 259          260 261   ...      44 tiles: 2 for each lane                */
#ifndef FIXED_LOOK_BACK_CUH
#define FIXED_LOOK_BACK_CUH

#include "tile_descriptor.cuh"

enum {
    LANE_TILES = 8, /* that a lane looks at, at most */
    WINDOW_TILES = 32 * LANE_TILES,
};

/* Whether this tile of a sequence publishes its inclusive prefix, once it knows it. The others publish their aggregate;
   a sequence's first one, into which nothing comes, with any product. */
static __device__ __forceinline__ bool ends_window(unsigned number_in_seq)
{
    return number_in_seq % WINDOW_TILES == WINDOW_TILES - 1;
}

/* Asks the L2 cache for all descriptors that tile `number` writes or reads, of which one prefetch gets four. */
static __device__ __forceinline__ void prefetch_window(unsigned long long *descriptors, unsigned number,
                                                       unsigned number_in_seq, int lane)
{
    const unsigned furthest = number_in_seq % WINDOW_TILES + (number_in_seq >= WINDOW_TILES); /* tile, counted back */
    for (unsigned back = 4 * lane; back < furthest + 4; back += 4 * 32)
        l2_prefetch(&descriptors[number - (back < furthest ? back : furthest)]);
}

/* What comes into tile `number`, which is not its sequence's first. All lanes of a warp call it. */
static __device__ __forceinline__ float fixed_look_back(unsigned long long *descriptors, unsigned number,
                                                        unsigned number_in_seq, int lane)
{
    const unsigned count = number_in_seq % WINDOW_TILES; /* tiles of the window before this one */
    const unsigned lane_tiles = (count + 31) / 32, first = lane * lane_tiles;
    const bool has_prefix = number_in_seq >= WINDOW_TILES;
    unsigned long long *const window = &descriptors[number - count];
    unsigned long long prefix = has_prefix ? descriptor_read(window - 1) : IDENTITY_DESCRIPTOR;
    unsigned long long found[LANE_TILES];
    bool missing;

    /* Lanes without a tile have nothing to join. They stand behind the others: whatever is joined in front of a
       sequence's first tile is multiplied by its product, which may be infinite. */
#pragma unroll
    for (unsigned i = 0; i < LANE_TILES; i++)
        found[i] = i < lane_tiles && first + i < count ? NOT_PUBLISHED : IDENTITY_DESCRIPTOR;
    do {
        missing = false;
#pragma unroll
        for (unsigned i = 0; i < LANE_TILES; i++)
            if (found[i] == NOT_PUBLISHED)
                found[i] = descriptor_read(&window[first + i]);
#pragma unroll
        for (unsigned i = 0; i < LANE_TILES; i++)
            missing = missing || found[i] == NOT_PUBLISHED;
    } while (missing);
    struct pair since = descriptor_pair(found[0]);
#pragma unroll
    for (unsigned i = 1; i < LANE_TILES; i++)
        since = pair_join(since, descriptor_pair(found[i]));
    since = pair_shfl(warp_scan(since, lane), 31);

    while (prefix == NOT_PUBLISHED)
        prefix = descriptor_read(window - 1);
    return has_prefix ? descriptor_pair(prefix).sum * since.product + since.sum : since.sum;
}

#endif
