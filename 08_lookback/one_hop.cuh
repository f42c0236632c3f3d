/* SPDX-License-Identifier: MIT */
/* one_hop.cuh - how the blocks of one_hop.cu and one_hop_backward.cu hand on their aggregates. Nothing is cleaned:
   each launch has a number, which stands in all that it publishes, so what an earlier launch has left is seen to be
   old. A tile has two words of 8 bytes:

       word           upper half              lower half
       product        number of the launch    the aggregate's product
       sum            number of the launch    the aggregate's sum

   Each word says by itself that it is new, so accesses are relaxed, and the two words need not be seen together.

   The workspace has the number of the last launch. When the last tile of each sequence has read the words of all tiles
   before it, the number moves on. All tiles have read it by then: a tile that had read the number that this launch
   leaves would have published words with a later one, and a last tile would still wait for its words, so the number
   would not have moved on. (Each step there is a value that was made of the one before, or a wait that has ended. No
   read returns what depends on its own end: PTX ISA, memory consistency model, "no thin air".) */
#ifndef ONE_HOP_CUH
#define ONE_HOP_CUH

#include "../common/cuda/tma.h"
#include "../common/cuda/two_words.h"
#include "one_hop_plan.h"
#include "tile_descriptor.cuh"

/* The workspace of these kernels. A launch finds `sequences` with all bits set, and leaves it so. The other kernels
   have theirs behind it (launch.c), so that one workspace serves all, one launch after the other. If nobody has
   initialised it, or two launches use it at the same time, a tile finds no mark, or words of its own launch in its
   place, or the number is not what it was; then the launch stops with an error, cudaErrorLaunchFailure. */
struct one_hop_space {
    unsigned launch;     /* the number of the last launch */
    unsigned sequences;  /* whose last tile has read all words, less one */
    unsigned mark;       /* all bits set, always: the workspace was initialised */
    unsigned unused[29]; /* the words begin with a line */
    unsigned long long words[2 * ONE_HOP_TILES];
};
static_assert(sizeof(struct one_hop_space) == ONE_HOP_BYTES, "the workspace has as many bytes as its size says");

/* What lane 0 of a warp finds when its block begins: the number of the last launch, which launch's words its tile has,
   and the mark. */
struct one_hop_begin {
    unsigned last_launch, own_launch, mark;
};

/* Has the words of tile `number`, and of all tiles of its sequence before it, brought to L2, those of two tiles by one
   prefetch; and asks for what struct one_hop_begin holds. All lanes of a warp call it before they load the tile, and
   nothing waits for it until it is used. */
static __device__ __forceinline__ struct one_hop_begin one_hop_enter(struct one_hop_space *space, unsigned number,
                                                                     unsigned number_in_seq, int lane)
{
    struct one_hop_begin begin = {};
    if (lane == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> launch(space->launch);
        begin.last_launch = launch.load(cuda::memory_order_relaxed);
        begin.own_launch = (unsigned)(descriptor_read(&space->words[2 * number]) >> 32);
        begin.mark = space->mark;
    }
    for (unsigned back = 2 * lane; back < number_in_seq + 2; back += 2 * 32)
        l2_prefetch(&space->words[2 * (number - (back < number_in_seq ? back : number_in_seq))]);
    return begin;
}

/* Called by the same lane, which knows the number of its launch by now: whether the workspace is as it should be. */
static __device__ __forceinline__ bool one_hop_may_begin(struct one_hop_begin begin, unsigned launch)
{
    return begin.mark == 0xFFFFFFFFu && begin.own_launch != launch;
}

/* One thread gives a launch's number, and a pair, to the words of tile `number`. */
static __device__ __forceinline__ void one_hop_publish(struct one_hop_space *space, unsigned number, unsigned launch,
                                                       struct pair aggregate)
{
    const unsigned long long upper = (unsigned long long)launch << 32;
    const struct two_words words = {upper | __float_as_uint(aggregate.product), upper | __float_as_uint(aggregate.sum)};
    two_words_write(&space->words[2 * number], words);
}

static __device__ __forceinline__ bool words_are_of(struct two_words words, unsigned launch)
{
    return words.first >> 32 == launch && words.second >> 32 == launch;
}

/* What comes into tile `number`, which is not its sequence's first: all aggregates before it are read at once, a few
   neighbouring ones by each lane, and joined in the order of the tiles. All lanes of a warp call it. */
static __device__ __forceinline__ float one_hop_carry(struct one_hop_space *space, unsigned number,
                                                      unsigned number_in_seq, unsigned launch, int lane)
{
    const unsigned lane_tiles = (number_in_seq + 31) / 32, first = lane * lane_tiles;
    unsigned long long *const words = &space->words[2 * (number - number_in_seq)];
    const unsigned long long upper = (unsigned long long)launch << 32, old = upper ^ 1ull << 32;
    struct two_words found[ONE_HOP_LANE_TILES];
    bool missing;

    /* Lanes without a tile have nothing to join: the product 1, the sum 0. They stand behind the others: whatever is
       joined in front of a sequence's first tile is multiplied by its product, which may be infinite. */
#pragma unroll
    for (unsigned i = 0; i < ONE_HOP_LANE_TILES; i++) {
        const bool has_tile = i < lane_tiles && first + i < number_in_seq;
        found[i].first = has_tile ? old : upper | __float_as_uint(1.0f);
        found[i].second = upper;
    }
    do {
        missing = false;
#pragma unroll
        for (unsigned i = 0; i < ONE_HOP_LANE_TILES; i++)
            if (!words_are_of(found[i], launch))
                found[i] = two_words_read(&words[2 * (first + i)]);
#pragma unroll
        for (unsigned i = 0; i < ONE_HOP_LANE_TILES; i++)
            missing = missing || !words_are_of(found[i], launch);
    } while (missing);
    struct pair since = {__uint_as_float((unsigned)found[0].first), __uint_as_float((unsigned)found[0].second)};
#pragma unroll
    for (unsigned i = 1; i < ONE_HOP_LANE_TILES; i++) {
        const struct pair next = {__uint_as_float((unsigned)found[i].first),
                                  __uint_as_float((unsigned)found[i].second)};
        since = pair_join(since, next);
    }
    return pair_shfl(warp_scan(since, lane), 31).sum;
}

/* One thread of each sequence's last tile counts it, when it has read all words. Returns how many were counted before;
   one sequence alone need not be counted. */
static __device__ __forceinline__ unsigned one_hop_count(struct one_hop_space *space, unsigned num_seqs)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> sequences(space->sequences);
    return num_seqs == 1 ? 0 : sequences.fetch_add(1, cuda::memory_order_relaxed) + 1;
}

/* The same thread, later, with what it got. The last of them moves the launch's number on. Before, it writes that
   number into pair `spare` of the words, another one in each launch, if this launch has no tile there. So no word is
   older than ONE_HOP_TILES launches, and when the numbers begin again after 2^32 launches, none is taken for new. */
static __device__ __forceinline__ void one_hop_leave(struct one_hop_space *space, unsigned counted, unsigned num_seqs,
                                                     unsigned launch)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> last(space->launch), sequences(space->sequences);
    const unsigned spare = launch % ONE_HOP_TILES;
    const struct pair nothing = {1.0f, 0.0f};
    unsigned found = launch - 1;
    if (counted >= num_seqs)
        __trap(); /* another launch uses the workspace at the same time */
    if (counted + 1 != num_seqs)
        return;
    if (num_seqs > 1)
        sequences.store(0xFFFFFFFFu, cuda::memory_order_relaxed);
    if (spare >= gridDim.x)
        one_hop_publish(space, spare, launch, nothing);
    if (!last.compare_exchange_strong(found, launch, cuda::memory_order_relaxed))
        __trap(); /* another launch uses the workspace at the same time */
}

#endif
