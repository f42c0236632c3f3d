/* lookback.cuh - what this chapter's kernels share: where a tile lies, the scan of a warp's part of it, and the words
   by which blocks tell each other what their tiles do. */
#ifndef LOOKBACK_CUH
#define LOOKBACK_CUH

#include <bulk_copy.h>
#include <cuda/atomic>

#include "../04_warp_scan/warp_scan.cuh"
#include "../06_backward/direction.cuh"
#include "lookback.h"

/* ---- where a tile lies ---- */

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

template <int reverse>
static __device__ __forceinline__ struct tile tile_number(unsigned number, const struct cut *cut)
{
    const size_t start = number / cut->seq_tiles * cut->seq_len, stop = start + cut->seq_len;
    const size_t origin = origin_of<reverse>(start, stop);
    const int begin = (int)(reverse ? origin - stop : start - origin);
    struct tile tile;
    tile.number_in_seq = number % cut->seq_tiles;
    const size_t base = (size_t)tile.number_in_seq * cut->tile_len;
    tile.at = tile_at<reverse>(origin, base);
    tile.first = base == 0 ? begin : 0;
    tile.last = elems_left(base, begin + cut->seq_len, cut->tile_len);
    tile.is_last = base + cut->tile_len >= begin + cut->seq_len;
    return tile;
}

/* ---- a warp's rows of a tile: steps 1, 2 and 4 of chapter 05's kernels ---- */

/* From memory. own: where the lane's group in the first row lies in the tile. */
template <int rows, int reverse>
static __device__ __forceinline__ void rows_load(const float *inputs, const float *coeffs, const struct tile *tile,
                                                 int own, float (*x)[4], float (*c)[4])
{
#pragma unroll
    for (int r = 0; r < rows; r++) {
        load4<reverse>(inputs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 0.0f, x[r]);
        load4<reverse>(coeffs + tile->at, own + r * PIPE_ROW, tile->first, tile->last, 1.0f, c[r]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) /* the sequence's first coefficient is not used */
        if (tile->number_in_seq == 0 && own + i == tile->first)
            c[0][i] = 1.0f;
}

/* x[r] and c[r]: the lane's group of four in row r. Afterwards x is the group's sum so far, c its product so far, and
   before[r] what the warp's elements before the group do. Returns what all of the warp's rows do. */
template <int rows>
static __device__ __forceinline__ struct pair rows_scan(float (*x)[4], float (*c)[4], struct pair *before, int lane)
{
    struct pair whole_warp;
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int i = 1; i < 4; i++) {
            x[r][i] = x[r][i - 1] * c[r][i] + x[r][i];
            c[r][i] = c[r][i - 1] * c[r][i];
        }
        const struct pair mine = {c[r][3], x[r][3]};
        const struct pair up_to_here = warp_scan(mine, lane), whole_row = pair_shfl(up_to_here, 31);
        before[r] = lane_before(up_to_here, lane);
        if (r > 0)
            before[r] = pair_join(whole_warp, before[r]);
        whole_warp = r == 0 ? whole_row : pair_join(whole_warp, whole_row);
    }
    return whole_warp;
}

/* What comes in is added to the warp's rows: `into_warp` before its first. Nothing comes into a sequence's first group
   (`nothing`, of the lane's first row); adding 0 * c would not do, because 0 * infinity is NaN. */
template <int rows>
static __device__ __forceinline__ void rows_add(float (*x)[4], float (*c)[4], const struct pair *before,
                                                float into_warp, bool nothing_into_warp, int lane)
{
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const float into = nothing_into_warp ? before[r].sum : into_warp * before[r].product + before[r].sum;
        if (!nothing_into_warp || lane > 0 || r > 0) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[r][i] = into * c[r][i] + x[r][i];
        }
    }
}

/* ---- words ---- */

/* A tile's word is 8 bytes, which are written and read at once, so that data and flag are one:

       product, sum     what the tile does: a carry y becomes y * product + sum
       NO_PRODUCT, sum  what leaves the tile: everything before it is in the sum
       all bits set     nothing yet

   A product or sum that is a NaN is written as the NaN 0x7FFFFFFF, so it looks like neither of the two. */
#define NOTHING_YET 0xFFFFFFFFFFFFFFFFull
#define NO_PRODUCT 0xFFFFFFFFu

/* What a launch finds filled with 0xFF, and leaves so. */
struct workspace {
    unsigned ticket;            /* the last tile that a block took */
    unsigned finished;          /* the number of blocks that have finished, less one */
    unsigned long long words[]; /* of each tile */
};

static __device__ __forceinline__ unsigned word_half(float value)
{
    return value != value ? 0x7FFFFFFFu : __float_as_uint(value);
}

static __device__ __forceinline__ void word_write(unsigned long long *place, unsigned product, unsigned sum)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(*place);
    word.store((unsigned long long)product << 32 | sum, cuda::memory_order_relaxed);
}

static __device__ __forceinline__ unsigned long long word_read(unsigned long long *place)
{
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> word(*place);
    return word.load(cuda::memory_order_relaxed);
}

static __device__ __forceinline__ struct pair word_pair(unsigned long long word)
{
    const struct pair pair = {__uint_as_float((unsigned)(word >> 32)), __uint_as_float((unsigned)word)};
    return pair;
}

static __device__ __forceinline__ bool word_is_carry(unsigned long long word)
{
    return (unsigned)(word >> 32) == NO_PRODUCT;
}

/* What `count` tiles do together whose words lie side by side, at most WAVES_WORDS a lane. Waits for all of them. All
   lanes of a warp call it; each has some neighbours. */
static __device__ __forceinline__ struct pair words_join(unsigned long long *words, unsigned count, int lane)
{
    const unsigned each = (count + 31) / 32, begin = lane * each;
    unsigned long long word[WAVES_WORDS];
    bool missing = true;
#pragma unroll
    for (unsigned i = 0; i < WAVES_WORDS; i++)
        word[i] = NOTHING_YET;
    while (missing) { /* all reads are on their way at once; what has come is not read again */
        missing = false;
#pragma unroll
        for (unsigned i = 0; i < WAVES_WORDS; i++)
            if (i < each && begin + i < count && word[i] == NOTHING_YET)
                word[i] = word_read(&words[begin + i]);
#pragma unroll
        for (unsigned i = 0; i < WAVES_WORDS; i++)
            missing = missing || (i < each && begin + i < count && word[i] == NOTHING_YET);
    }
    struct pair mine = {1.0f, 0.0f};
#pragma unroll
    for (unsigned i = 0; i < WAVES_WORDS; i++)
        if (i < each && begin + i < count)
            mine = i == 0 ? word_pair(word[i]) : pair_join(mine, word_pair(word[i]));
    return pair_shfl(warp_scan(mine, lane), 31);
}

/* The next tile that no block has taken yet. The first ticket is 0: -1, as which the workspace begins, and one. */
static __device__ __forceinline__ unsigned take_ticket(struct workspace *space)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(space->ticket);
    return ticket.fetch_add(1, cuda::memory_order_relaxed) + 1;
}

/* All threads of a block call it when they need the workspace no more; the last block leaves it as it was found. What
   the others have done there comes before that: they release it here, and the last one acquires it. */
static __device__ __forceinline__ void leave_workspace(struct workspace *space, unsigned num_tiles)
{
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> finished(space->finished);
        is_last = finished.fetch_add(1, cuda::memory_order_acq_rel) + 2 == gridDim.x;
    }
    __syncthreads();
    if (!is_last)
        return;
    for (unsigned i = threadIdx.x; i < num_tiles; i += blockDim.x)
        space->words[i] = NOTHING_YET;
    if (threadIdx.x == 0)
        space->ticket = space->finished = 0xFFFFFFFFu;
}

/* ---- stages: where tiles of waves.cu wait in shared memory ---- */

/* A tile's way through its stage, and what is known of it there. */
struct stage {
    uint64_t arrived, summed, known, free;
    struct warp_totals totals; /* of the warps' rows: from sum, for look and apply */
    float carry;               /* what comes into the tile: from look, for apply and the next look */
};

static __device__ __forceinline__ void stages_init(struct stage *stages, int num_stages, int num_warps)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < num_stages; s++) {
            mbarrier_init(&stages[s].arrived, 1);
            mbarrier_init(&stages[s].summed, num_warps);
            mbarrier_init(&stages[s].known, 1);
            mbarrier_init(&stages[s].free, num_warps + 1); /* the warps of apply, and the look at the next tile */
        }
        mbarrier_init_done();
    }
    __syncthreads();
}

/* Of one array the whole groups of a tile: their bytes, and their way into a stage, where the tile's origin is `to`.
   One thread calls this. */
static __device__ __forceinline__ unsigned groups_bytes(const struct tile *tile)
{
    const int first = (tile->first + 3) & ~3, last = tile->last & ~3;
    return last > first ? (last - first) * sizeof(float) : 0;
}

template <int reverse>
static __device__ __forceinline__ void groups_send(const float *array, const struct tile *tile, float *to,
                                                   uint64_t *arrived)
{
    const unsigned bytes = groups_bytes(tile);
    const int at = place<reverse>((tile->first + 3) & ~3, bytes / sizeof(float));
    if (bytes != 0)
        bulk_load(to + at, array + tile->at + at, bytes, arrived);
}

/* What came into the block's last tile is led through `since`, what the tiles since then do together, and becomes the
   carry of tile number `turn` of the block; or since.sum does, if its sequence began since then. All lanes of a warp
   call it. */
static __device__ __forceinline__ void pass_on(struct stage *stages, int num_stages, unsigned turn, struct pair since,
                                               bool from_last, int lane)
{
    struct stage *const stage = &stages[turn % num_stages], *const last = &stages[(turn + num_stages - 1) % num_stages];
    float carry = since.sum;
    if (turn > 0)
        mbarrier_wait(&last->known, (turn - 1) / num_stages % 2);
    if (from_last)
        carry = last->carry * since.product + since.sum;
    __syncwarp(); /* all lanes have read what they need of both stages */
    if (lane == 0) {
        stage->carry = carry;
        mbarrier_arrive(&stage->known);
        if (turn > 0)
            mbarrier_arrive(&last->free);
    }
}

#endif
