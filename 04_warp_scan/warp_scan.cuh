/* warp_scan.cuh - the scan of this chapter, for all later ones: pairs combined across the lanes of a warp by shuffles,
   and across the warps of a block through shared memory.

   A pair (product, sum) describes a stretch of a sequence: whatever value y comes in, y * product + sum comes out. Two
   stretches, one behind the other, are one stretch. This operation is associative, so it does not matter in which order
   neighbours are joined. */
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

/* The pair that another lane holds: `distance` lanes before this one (a lane without such a neighbour gets its own), or
 * `lane`. */
static __device__ __forceinline__ struct pair pair_shfl_up(struct pair mine, int distance)
{
    struct pair other = {__shfl_up_sync(ALL_LANES, mine.product, distance),
                         __shfl_up_sync(ALL_LANES, mine.sum, distance)};
    return other;
}

static __device__ __forceinline__ struct pair pair_shfl(struct pair mine, int lane)
{
    struct pair other = {__shfl_sync(ALL_LANES, mine.product, lane), __shfl_sync(ALL_LANES, mine.sum, lane)};
    return other;
}

/* Inclusive scan over a warp: afterwards a lane's pair describes its own stretch and those of all lanes before it. Five
   steps:

       lane         0   1   2   3   4   5   6   7  ...
       before       0   1   2   3   4   5   6   7         first and last stretch that the lane's pair describes
       d = 1        0  01  12  23  34  45  56  67
       d = 2        0  01  02  03  14  25  36  47
       d = 4        0  01  02  03  04  05  06  07         and so on, d = 8, 16

   `reach`: how many lanes before it a lane may join; its own number for all of them. (Chapter 05 stops at the start of
   a sequence.) */
static __device__ __forceinline__ struct pair warp_scan(struct pair mine, int reach)
{
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const struct pair before = pair_shfl_up(mine, d);
        if (reach >= d)
            mine = pair_join(before, mine);
    }
    return mine;
}

/* Makes an inclusive scan exclusive: the pair of the lane before; for lane 0 the pair that changes nothing. */
static __device__ __forceinline__ struct pair lane_before(struct pair mine, int lane)
{
    struct pair before = pair_shfl_up(mine, 1);
    if (lane == 0)
        before.product = 1.0f, before.sum = 0.0f;
    return before;
}

/* The warps' totals in shared memory. */
struct warp_totals {
    float product[32], sum[32];
};

/* First half of the scan over a block: every warp writes what all its elements do. `total` is that pair in lane 31. A
   __syncthreads must follow. */
static __device__ __forceinline__ void block_publish(struct warp_totals *totals, struct pair total, int warp, int lane)
{
    if (lane == 31) {
        totals->product[warp] = total.product;
        totals->sum[warp] = total.sum;
    }
}

/* Second half: every warp scans all totals, each for itself, which costs some shuffles and saves a second barrier.
   *carry is what comes into the block's first warp, unless `first` says that nothing does; it becomes what leaves the
   last one. Returns what comes into this warp. */
static __device__ __forceinline__ float block_collect(const struct warp_totals *totals, bool first, float *carry,
                                                      int warp, int num_warps, int lane)
{
    struct pair total = {1.0f, 0.0f};
    if (lane < num_warps)
        total.product = totals->product[lane], total.sum = totals->sum[lane];
    for (int d = 1; d < num_warps; d *= 2) {
        const struct pair before = pair_shfl_up(total, d);
        if (lane >= d)
            total = pair_join(before, total);
    }
    const float out = first ? total.sum : *carry * total.product + total.sum; /* of warp number `lane` */
    const float into = warp == 0 ? *carry : __shfl_sync(ALL_LANES, out, warp - 1);
    *carry = __shfl_sync(ALL_LANES, out, num_warps - 1);
    return into;
}

#endif
