/* SPDX-License-Identifier: MIT */
/* warp_scan.cuh - the scan of this chapter, which all later ones use: pairs are combined across the lanes of a warp by
   shuffles, and across the warps of a block through shared memory.

   A pair (product, sum) tells what a segment of a sequence does: whatever value y comes in, y * product + sum comes
   out. It is the segment's aggregate. Two neighbouring segments are one longer segment, and joining their pairs is
   associative: it does not matter which neighbours are joined first. */
#ifndef WARP_SCAN_CUH
#define WARP_SCAN_CUH

#define ALL_LANES 0xFFFFFFFFu

struct pair {
    float product, sum;
};

static __device__ __forceinline__ struct pair pair_join(struct pair first, struct pair second)
{
    struct pair both = {first.product * second.product, first.sum * second.product + second.sum};
    return both;
}

/* The pair of the lane `distance` before this one. A lane without such a neighbour gets its own pair. */
static __device__ __forceinline__ struct pair pair_shfl_up(struct pair mine, int distance)
{
    struct pair other = {__shfl_up_sync(ALL_LANES, mine.product, distance),
                         __shfl_up_sync(ALL_LANES, mine.sum, distance)};
    return other;
}

/* The pair of lane number `lane`. */
static __device__ __forceinline__ struct pair pair_shfl(struct pair mine, int lane)
{
    struct pair other = {__shfl_sync(ALL_LANES, mine.product, lane), __shfl_sync(ALL_LANES, mine.sum, lane)};
    return other;
}

/* Inclusive scan over a warp: afterwards a lane's pair stands for its own segment and those of all lanes before it.
   Five steps:

       lane         0   1   2   3   4   5   6   7  ...
       before       0   1   2   3   4   5   6   7         first and last lane that the pair stands for
       d = 1        0  01  12  23  34  45  56  67
       d = 2        0  01  02  03  14  25  36  47
       d = 4        0  01  02  03  04  05  06  07         and so on, d = 8, 16      */
static __device__ __forceinline__ struct pair warp_scan(struct pair mine, int lane)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const struct pair before = pair_shfl_up(mine, d);
        if (lane >= d)
            mine = pair_join(before, mine);
    }
    return mine;
}

/* Makes an inclusive scan exclusive: each lane gets the pair of the lane before. Lane 0 gets (1, 0), which changes
   nothing as the second argument of a join. As the first it would be wrong, because 0 * infinity is NaN. */
static __device__ __forceinline__ struct pair lane_before(struct pair mine, int lane)
{
    const struct pair before = pair_shfl_up(mine, 1), nothing = {1.0f, 0.0f};
    return lane == 0 ? nothing : before;
}

/* The aggregate (also: total) of each warp of a block, in shared memory. */
struct warp_totals {
    float product[32], sum[32];
};

/* Inclusive scan over the warps' aggregates. Every warp does all of it for itself, which costs some shuffles and saves
   a barrier. Lane w returns the aggregate of warps 0 to w together. */
static __device__ __forceinline__ struct pair totals_scan(const struct warp_totals *totals, int num_warps, int lane)
{
    struct pair total = {1.0f, 0.0f};
    if (lane < num_warps)
        total.product = totals->product[lane], total.sum = totals->sum[lane];
    for (int d = 1; d < num_warps; d *= 2) {
        const struct pair before = pair_shfl_up(total, d);
        if (lane >= d)
            total = pair_join(before, total);
    }
    return total;
}

#endif
