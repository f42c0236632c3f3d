/* SPDX-License-Identifier: MIT */
/* look_back.cuh - decoupled look-back, for lookback.cu, resident.cu and resident_backward.cu: a warp finds a tile's
   exclusive prefix, the carry that comes into it, in the descriptors of the tiles before it. It looks at a window of 32
   of them at once:

       lane     ...    26    27    28    29    30    31         A: aggregate, P: inclusive prefix, -: not published
       tile     ...   t-6   t-5   t-4   t-3   t-2   t-1
       status   ...    -     A     P     A     A     A          joined: P, A, A, A                     */
#ifndef LOOK_BACK_CUH
#define LOOK_BACK_CUH

#include "tile_descriptor.cuh"

/* What comes into tile `number`, which is not its sequence's first. All lanes of a warp call it. */
static __device__ __forceinline__ float look_back(unsigned long long *descriptors, unsigned number,
                                                  unsigned number_in_seq, int lane)
{
    struct pair since = {1.0f, 0.0f}; /* what the tiles do that have been looked at */
    for (unsigned back = 0; back < number_in_seq; back += 32) {
        /* Lane 31 has the nearest tile; a lane before the sequence's first tile has none. */
        const bool has_tile = back + 32 - lane <= number_in_seq;
        unsigned long long found = NOT_PUBLISHED;
        unsigned prefixes, missing;
        do {
            if (has_tile && found == NOT_PUBLISHED)
                found = descriptor_read(&descriptors[number - back - 32 + lane]);
            prefixes = __ballot_sync(ALL_LANES, has_tile && found != NOT_PUBLISHED && descriptor_is_prefix(found));
            missing = __ballot_sync(ALL_LANES, has_tile && found == NOT_PUBLISHED);
        } while (missing > prefixes); /* a tile after the last prefix has published nothing */

        /* The last prefix stands for all before it. */
        const int nearest = prefixes != 0 ? 31 - __clz(prefixes) : -1;
        const struct pair identity = {1.0f, 0.0f};
        struct pair pair = has_tile && lane >= nearest ? descriptor_pair(found) : identity;
        if (lane == nearest)
            pair.product = 1.0f;
        pair = pair_shfl(warp_scan(pair, lane), 31);
        since = back == 0 ? pair : pair_join(pair, since);
        if (prefixes != 0)
            break;
    }
    return since.sum;
}

#endif
