/* SPDX-License-Identifier: MIT */
/* cooperative_groups.h - threads as groups: a block, a tile of a warp's lanes, the lanes that come together, a cluster, the
   grid. Each call is one of cuda_runtime.h's with the group's mask, at the user's line: block.sync() is __syncthreads,
   tile.sync() is __syncwarp, tile.shfl_down() is __shfl_down_sync.

   Groups of a warp are a mask of its lanes. A tile's lanes are neighbours, those of a coalesced_group any. */
#ifndef COOPERATIVE_GROUPS_H
#define COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"
#include "sim_cluster.h"

namespace cooperative_groups
{
/* ---- the thread's place ---- */

SIM_INLINE unsigned sim_block_size()
{
    return blockDim.x * blockDim.y * blockDim.z;
}
SIM_INLINE unsigned sim_rank()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SIM_INLINE unsigned sim_lane()
{
    return sim_rank() % 32;
}

/* The `size` lanes of this thread's tile. */
SIM_INLINE unsigned sim_tile_mask(unsigned size)
{
    return (size >= 32 ? 0xffffffffu : (1u << size) - 1) << (sim_lane() & ~(size - 1));
}

/* The lane with that rank among those of a mask. */
SIM_INLINE unsigned sim_lane_of(unsigned mask, unsigned rank)
{
    for (; rank > 0 && mask != 0; rank--)
        mask &= mask - 1;
    return mask == 0 ? 32 : (unsigned)__builtin_ctz(mask);
}

/* Those lanes of `bits` that are in the mask, moved together: bit i is the lane of rank i. */
SIM_INLINE unsigned sim_pack(unsigned mask, unsigned bits)
{
    unsigned packed = 0;
    for (unsigned i = 0; mask != 0; i++, mask &= mask - 1)
        packed |= (bits >> __builtin_ctz(mask) & 1) << i;
    return packed;
}

/* A shuffle of any type that can be copied, 8 bytes at a time. */
template <class T>
SIM_INLINE T sim_shuffle_any(sim_warp_kind kind, unsigned mask, T value, unsigned lane, int width, const char *file,
                             int line)
{
    static_assert(std::is_trivially_copyable<T>::value, "a group's shuffles take types that memcpy can copy");
    for (size_t at = 0; at < sizeof(T); at += 8) {
        uint64_t word = 0;
        const size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
        memcpy(&word, (const char *)&value + at, bytes);
        word = sim_warp_call(kind, mask, word, (lane & 31) | (unsigned)bytes << 16, width, file, line);
        memcpy((char *)&value + at, &word, bytes);
    }
    return value;
}

/* ---- any group: what is known only when the program runs ---- */

class thread_group
{
  protected:
    unsigned mask = 0; /* lanes; 0: all threads of the block */
    unsigned meta_rank = 0, meta_size = 1;
    thread_group() = default;
    thread_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : mask(mask), meta_rank(meta_rank), meta_size(meta_size)
    {
    }
    friend SIM_METHOD thread_group tiled_partition(const thread_group &parent, unsigned size, const char *file,
                                                   int line);

  public:
    SIM_METHOD void sync(SIM_AT) const
    {
        mask == 0 ? __syncthreads(file, line) : __syncwarp(mask, file, line);
    }
    SIM_METHOD unsigned num_threads() const
    {
        return mask == 0 ? sim_block_size() : (unsigned)__popc(mask);
    }
    SIM_METHOD unsigned size() const
    {
        return num_threads();
    }
    SIM_METHOD unsigned thread_rank() const
    {
        return mask == 0 ? sim_rank() : (unsigned)__popc(mask & ((1u << sim_lane()) - 1));
    }
    SIM_METHOD bool is_valid() const
    {
        return true;
    }
};

/* ---- the block ---- */

class thread_block : public thread_group
{
  public:
    SIM_METHOD static void sync(SIM_AT)
    {
        __syncthreads(file, line);
    }
    SIM_METHOD static unsigned thread_rank()
    {
        return sim_rank();
    }
    SIM_METHOD static unsigned num_threads()
    {
        return sim_block_size();
    }
    SIM_METHOD static unsigned size()
    {
        return sim_block_size();
    }
    SIM_METHOD static dim3 group_index()
    {
        return dim3(blockIdx);
    }
    SIM_METHOD static dim3 thread_index()
    {
        return dim3(threadIdx);
    }
    SIM_METHOD static dim3 dim_threads()
    {
        return blockDim;
    }
    SIM_METHOD static dim3 group_dim()
    {
        return blockDim;
    }
};
SIM_INLINE thread_block this_thread_block()
{
    return thread_block();
}
template <unsigned size = 1024>
struct block_tile_memory { /* what tiles of several warps need on a GPU */
    char unused[size / 32 * 8];
};
template <unsigned size>
SIM_INLINE thread_block this_thread_block(block_tile_memory<size> &)
{
    return thread_block();
}

/* ---- lanes that have come together ---- */

class coalesced_group : public thread_group
{
    SIM_METHOD static unsigned checked(unsigned lane)
    {
        return lane < 32 ? lane : sim_lane(); /* there is no such rank: its own value */
    }

  public:
    /* (Made by the functions below.) */
    explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : thread_group(mask, meta_rank, meta_size)
    {
    }
    SIM_METHOD unsigned sim_mask() const
    {
        return mask;
    }
    SIM_METHOD unsigned meta_group_rank() const
    {
        return meta_rank;
    }
    SIM_METHOD unsigned meta_group_size() const
    {
        return meta_size;
    }
    template <class T>
    SIM_METHOD T shfl(T value, int rank, SIM_AT) const
    {
        return sim_shuffle_any(SIM_SHFL, mask, value, checked(sim_lane_of(mask, (unsigned)rank)), 32, file, line);
    }
    template <class T>
    SIM_METHOD T shfl_up(T value, unsigned delta, SIM_AT) const
    {
        const unsigned rank = thread_rank();
        return sim_shuffle_any(SIM_SHFL, mask, value, sim_lane_of(mask, rank < delta ? rank : rank - delta), 32, file,
                               line);
    }
    template <class T>
    SIM_METHOD T shfl_down(T value, unsigned delta, SIM_AT) const
    {
        return sim_shuffle_any(SIM_SHFL, mask, value, checked(sim_lane_of(mask, thread_rank() + delta)), 32, file,
                               line);
    }
    SIM_METHOD int any(int predicate, SIM_AT) const
    {
        return __any_sync(mask, predicate, file, line);
    }
    SIM_METHOD int all(int predicate, SIM_AT) const
    {
        return __all_sync(mask, predicate, file, line);
    }
    SIM_METHOD unsigned ballot(int predicate, SIM_AT) const
    {
        return sim_pack(mask, __ballot_sync(mask, predicate, file, line));
    }
    template <class T>
    SIM_METHOD unsigned match_any(T value, SIM_AT) const
    {
        return sim_pack(mask, __match_any_sync(mask, value, file, line));
    }
    template <class T>
    SIM_METHOD unsigned match_all(T value, int &all_equal, SIM_AT) const
    {
        return sim_pack(mask, __match_all_sync(mask, value, &all_equal, file, line));
    }
};

/* The lanes of the warp that come to this call before none of them can go on. */
SIM_INLINE coalesced_group coalesced_threads(SIM_AT)
{
    return coalesced_group(sim_gather("coalesced_threads()", file, line));
}

/* ---- tiles: as many lanes as the type says ---- */

template <unsigned N, class Parent = void>
class thread_block_tile;

template <unsigned N>
class thread_block_tile<N, void> : public thread_group
{
    static_assert(N != 0 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
    static_assert(N <= 32, "tiles of more than 32 threads are not simulated: sync the block, or take tiles of 32");

  public:
    /* (Made by tiled_partition.) */
    thread_block_tile(unsigned meta_rank, unsigned meta_size) : thread_group(sim_tile_mask(N), meta_rank, meta_size)
    {
    }
    SIM_METHOD unsigned sim_mask() const
    {
        return mask;
    }
    SIM_METHOD void sync(SIM_AT) const
    {
        __syncwarp(mask, file, line);
    }
    SIM_METHOD static unsigned thread_rank()
    {
        return sim_rank() & (N - 1);
    }
    SIM_METHOD static constexpr unsigned num_threads()
    {
        return N;
    }
    SIM_METHOD static constexpr unsigned size()
    {
        return N;
    }
    SIM_METHOD unsigned meta_group_rank() const
    {
        return meta_rank;
    }
    SIM_METHOD unsigned meta_group_size() const
    {
        return meta_size;
    }
    template <class T>
    SIM_METHOD T shfl(T value, int rank, SIM_AT) const
    {
        return sim_shuffle_any(SIM_SHFL, mask, value, (unsigned)rank, N, file, line);
    }
    template <class T>
    SIM_METHOD T shfl_up(T value, unsigned delta, SIM_AT) const
    {
        return sim_shuffle_any(SIM_SHFL_UP, mask, value, delta, N, file, line);
    }
    template <class T>
    SIM_METHOD T shfl_down(T value, unsigned delta, SIM_AT) const
    {
        return sim_shuffle_any(SIM_SHFL_DOWN, mask, value, delta, N, file, line);
    }
    template <class T>
    SIM_METHOD T shfl_xor(T value, unsigned lane_mask, SIM_AT) const
    {
        return sim_shuffle_any(SIM_SHFL_XOR, mask, value, lane_mask, N, file, line);
    }
    SIM_METHOD int any(int predicate, SIM_AT) const
    {
        return __any_sync(mask, predicate, file, line);
    }
    SIM_METHOD int all(int predicate, SIM_AT) const
    {
        return __all_sync(mask, predicate, file, line);
    }
    SIM_METHOD unsigned ballot(int predicate, SIM_AT) const
    {
        return __ballot_sync(mask, predicate, file, line) >> __builtin_ctz(mask);
    }
    template <class T>
    SIM_METHOD unsigned match_any(T value, SIM_AT) const
    {
        return __match_any_sync(mask, value, file, line) >> __builtin_ctz(mask);
    }
    template <class T>
    SIM_METHOD unsigned match_all(T value, int &all_equal, SIM_AT) const
    {
        return __match_all_sync(mask, value, &all_equal, file, line) >> __builtin_ctz(mask);
    }
};

template <unsigned N, class Parent>
class thread_block_tile : public thread_block_tile<N, void>
{
  public:
    thread_block_tile(unsigned meta_rank, unsigned meta_size) : thread_block_tile<N, void>(meta_rank, meta_size)
    {
    }
};

/* The parent's threads in tiles: of as many lanes as a type or a number says, a power of two up to 32. */
template <unsigned N, class Parent>
SIM_METHOD thread_block_tile<N, Parent> tiled_partition(const Parent &parent)
{
    return thread_block_tile<N, Parent>((unsigned)parent.thread_rank() / N,
                                        ((unsigned)parent.num_threads() + N - 1) / N);
}
SIM_METHOD thread_group tiled_partition(const thread_group &parent, unsigned size, SIM_AT)
{
    const unsigned rank = parent.thread_rank(), number = parent.num_threads();
    unsigned mask = 0;

    sim_check_tile(size, file, line);
    if (parent.mask == 0)
        mask = sim_tile_mask(size);
    for (unsigned i = rank / size * size; parent.mask != 0 && i < (rank / size + 1) * size; i++)
        mask |= (unsigned)(1ull << sim_lane_of(parent.mask, i)); /* past the last lane: 0 */
    return thread_group(mask, rank / size, (number + size - 1) / size);
}
SIM_METHOD coalesced_group tiled_partition(const coalesced_group &parent, unsigned size, SIM_AT)
{
    const unsigned rank = parent.thread_rank(), number = parent.num_threads();
    unsigned mask = 0;

    sim_check_tile(size, file, line);
    for (unsigned i = rank / size * size; i < (rank / size + 1) * size && i < number; i++)
        mask |= 1u << sim_lane_of(parent.sim_mask(), i);
    return coalesced_group(mask, rank / size, (number + size - 1) / size);
}

/* Those of a tile or coalesced_group that give the same label. */
template <class Group, class Label>
SIM_METHOD coalesced_group labeled_partition(const Group &group, Label label, SIM_AT)
{
    const unsigned mask = group.sim_mask(), same = __match_any_sync(mask, label, file, line);
    const unsigned firsts = __ballot_sync(mask, (int)((same & -same) == 1u << sim_lane()), file, line);
    return coalesced_group(same, (unsigned)__popc(firsts & ((same & -same) - 1)), (unsigned)__popc(firsts));
}
template <class Group>
SIM_METHOD coalesced_group binary_partition(const Group &group, bool predicate, SIM_AT)
{
    const unsigned mask = group.sim_mask(), yes = __ballot_sync(mask, predicate, file, line), no = mask & ~yes;
    return coalesced_group(predicate ? yes : no, predicate, 2);
}

/* ---- the grid, and the cluster ---- */

class grid_group
{
  public:
    SIM_METHOD void sync(SIM_AT) const
    {
        sim_grid_sync(file, line);
    }
    SIM_METHOD bool is_valid() const
    {
        return sim_grid_is_whole();
    }
    SIM_METHOD static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    SIM_METHOD static unsigned long long num_threads()
    {
        return num_blocks() * sim_block_size();
    }
    SIM_METHOD static unsigned long long size()
    {
        return num_threads();
    }
    SIM_METHOD static unsigned long long block_rank()
    {
        return blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    SIM_METHOD static unsigned long long thread_rank()
    {
        return block_rank() * sim_block_size() + sim_rank();
    }
    SIM_METHOD static dim3 dim_blocks()
    {
        return gridDim;
    }
    SIM_METHOD static dim3 group_dim()
    {
        return gridDim;
    }
    SIM_METHOD static dim3 block_index()
    {
        return dim3(blockIdx);
    }
};
SIM_INLINE grid_group this_grid()
{
    return grid_group();
}

class cluster_group
{
  public:
    struct arrival_token {
    };
    SIM_METHOD static void sync(SIM_AT)
    {
        cluster_arrive(file, line);
        cluster_wait(file, line);
    }
    SIM_METHOD static arrival_token barrier_arrive(SIM_AT)
    {
        cluster_arrive(file, line);
        return arrival_token();
    }
    SIM_METHOD static void barrier_wait(SIM_AT)
    {
        cluster_wait(file, line);
    }
    SIM_METHOD static void barrier_wait(arrival_token &&, SIM_AT)
    {
        cluster_wait(file, line);
    }
    SIM_METHOD static unsigned block_rank(SIM_AT)
    {
        return cluster_rank(file, line);
    }
    SIM_METHOD static unsigned num_blocks(SIM_AT)
    {
        return cluster_size(file, line);
    }
    SIM_METHOD static unsigned num_threads(SIM_AT)
    {
        return cluster_size(file, line) * sim_block_size();
    }
    SIM_METHOD static unsigned size(SIM_AT)
    {
        return num_threads(file, line);
    }
    SIM_METHOD static unsigned thread_rank(SIM_AT)
    {
        return cluster_rank(file, line) * sim_block_size() + sim_rank();
    }
    template <class T>
    SIM_METHOD static T *map_shared_rank(T *shared, int rank, SIM_AT)
    {
        return (T *)cluster_shared((void *)shared, (unsigned)rank, file, line);
    }
};
SIM_INLINE cluster_group this_cluster()
{
    return cluster_group();
}

/* ---- the same as functions; one thread for all ---- */

template <class Group>
SIM_METHOD void sync(const Group &group, SIM_AT)
{
    group.sync(file, line);
}
template <class Group>
SIM_METHOD auto thread_rank(const Group &group)
{
    return group.thread_rank();
}
template <class Group>
SIM_METHOD auto group_size(const Group &group)
{
    return group.num_threads();
}

template <class Group, class Function, class... A>
SIM_METHOD void invoke_one(const Group &group, Function &&function, A &&...arguments)
{
    if (group.thread_rank() == 0)
        function(arguments...);
}
template <class Group, class Function>
SIM_METHOD auto invoke_one_broadcast(const Group &group, Function &&function, SIM_AT) -> decltype(function())
{
    decltype(function()) result{};
    if (group.thread_rank() == 0)
        result = function();
    return group.shfl(result, 0, file, line);
}
} // namespace cooperative_groups

#endif
