/* SPDX-License-Identifier: MIT */
/* tma_tile.cuh - stages of shared memory of tma.cu, tma_backward.cu, split.cu and split_backward.cu, and a slice's
   chunks in them. A tile is a slice of `steps` chunks, one after the other, and what one stage holds:

                  slice 0   slice 1   slice 2   ...
       chunk 0   |---------|#########|---------|---        # a tile: `steps` copies of a slice's bytes, by TMA
       chunk 1   |---------|#########|---------|---
       ...
       chunk 8   |---------|---------|---------|---

   A tile's decays come with it, behind the stages: a few bytes at any multiple of four, which TMA does not take, so
   cp.async does. */
#ifndef TMA_TILE_CUH
#define TMA_TILE_CUH

#include "../../common/cuda/cp_async.h"
#include "../../common/cuda/tma.h"
#include "tma_slice.cuh"

/* Chunks of the tile that begins with chunk `first`. */
template <int steps>
static __device__ __forceinline__ unsigned tile_chunks(const struct tma_plan *plan, size_t first)
{
    const size_t chunks = plan->flat.chunks;
    return first >= chunks ? 0 : (unsigned)min(chunks - first, (size_t)steps);
}

/* A tile's copies are asked for by `steps` threads, spread over as many warps as there are: with one thread for all of
   them a launch of an earlier version took 88 us in place of 79 (single runs on an H200). Why one is slower was not
   measured. The barrier of a stage waits for these threads. */
static __device__ __forceinline__ void barriers_init(uint64_t *arrived, int stages, int steps)
{
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < stages; s++)
            mbarrier_init(&arrived[s], steps);
        mbarrier_init_done();
    }
    __syncthreads(); /* the barriers are there for all */
}

/* Slot n for a tile's decays, behind the stages. There is one slot more than there are stages. */
static __device__ __forceinline__ float *decays_slot(const struct tma_plan *plan, char *stages, int n)
{
    return (float *)(stages + plan->stages * plan->stage_bytes + n * plan->decays_bytes);
}

/* Asks TMA for a tile of num_arrays arrays, one or two, and cp.async for its decays, if there is such a tile. All
   threads call it; each waits for its own decays, and a barrier shows them to the others. */
template <int dtype, int steps, int num_arrays>
static __device__ __forceinline__ void tile_load(const void *array, const void *second, const float *gamma,
                                                 const struct tma_plan *plan, const struct slice *slice, size_t first,
                                                 char *stage, float *decays, uint64_t *arrived)
{
    const unsigned chunks = tile_chunks<steps>(plan, first), bytes = slice->columns * (unsigned)element_bytes(dtype);
    if (chunks != 0 && slice->copied < steps) {
        if (slice->copied < chunks) {
            const size_t at = slice_at<dtype>(plan, slice, first + slice->copied);
            char *const to = stage + slice->copied * plan->slicing.width * (unsigned)element_bytes(dtype);
            mbarrier_expect(arrived, num_arrays * bytes);
            tma_load(to, (const char *)array + at, bytes, arrived);
            if (num_arrays == 2)
                tma_load(to + plan->tile_bytes, (const char *)second + at, bytes, arrived);
        } else {
            mbarrier_arrive(arrived);
        }
    }
    for (unsigned s = slice->from; s < chunks; s += slice->apart)
        __pipeline_memcpy_async(
            decays + slice->asked * steps + s,
            gamma + (slice->row + first + s) * plan->flat.decays + slice->first_decay + slice->asked, 4);
    __pipeline_commit();
}

/* These read the thread's 16 bytes of each chunk of a tile from its stage, and their decays. There are no branches
   around the loads, so all of them are on their way at once. What stands behind the tile's last chunk is anything. */
template <int dtype, int steps>
static __device__ __forceinline__ void tile_read(const struct tma_plan *plan, const struct slice *slice,
                                                 const char *stage, uint4 *x)
{
    const unsigned words = plan->slicing.width / OWN(dtype);
#pragma unroll
    for (int s = 0; s < steps; s++)
        x[s] = ((const uint4 *)stage)[s * words + slice->own / OWN(dtype)];
}

template <int steps>
static __device__ __forceinline__ void decays_read(const struct slice *slice, const float *from, float *decays)
{
#pragma unroll
    for (int s = 0; s < steps; s += 4) {
        const float4 four = *(const float4 *)(from + slice->own_decay * steps + s);
        decays[s] = four.x, decays[s + 1] = four.y, decays[s + 2] = four.z, decays[s + 3] = four.w;
    }
}

/* Makes of what stands behind the tile's `in` chunks steps that change nothing: h = 1 h + 0. So a tile always has all
   of its steps, and no branches between them: with a branch before each step the compiler loads what a step needs only
   behind it, and every step waits for shared memory. */
template <int steps>
static __device__ __forceinline__ void tile_fill(int in, uint4 *x, float *decays)
{
    if (in >= steps)
        return;
#pragma unroll
    for (int s = 0; s < steps; s++)
        if (s >= in)
            x[s] = make_uint4(0, 0, 0, 0), decays[s] = 1.0f;
}

#endif
