/* SPDX-License-Identifier: MIT */
/* direction.cuh - groups of four in either direction, for the kernels of chapters 06, 08 and 12: chapter 05's
   groups.cuh, and where in memory things are.

   Elements are counted in the order of the scan, from `origin` on; tiles, groups and edges are as before. In all
   kernels `from_end` is 1 if the scan begins at the sequence's end, as for the reversed recurrence, or the gradients of
   the forward one. It is the same picture with memory running from right to left:

       from_end 0 origin                            from_end 1                          origin
                  |.  0  1  2 |3  4  5  6 |  ...          ...  |6  5  4  3 |2  1  0  . |
       memory     ->                                                                  ->     */
#ifndef DIRECTION_CUH
#define DIRECTION_CUH

#include "../05_pipe/edges.cuh"

/* The multiple of 4 from which the elements of a sequence are counted that lies in memory at [start, stop). */
template <int from_end>
static __device__ __forceinline__ size_t origin_of(size_t start, size_t stop)
{
    return from_end ? (stop + 3) & ~(size_t)3 : start & ~(size_t)3;
}

/* Where the tile that begins with element number `base` has its own origin. */
template <int from_end>
static __device__ __forceinline__ size_t tile_at(size_t origin, size_t base)
{
    return from_end ? origin - base : origin + base;
}

/* Where in memory, counted from a tile's origin, its `count` elements from number `at` on begin. */
template <int from_end>
static __device__ __forceinline__ int place(int at, int count)
{
    return from_end ? -at - count : at;
}

/* Four elements that lie at `memory`, in the order of the scan. */
template <int from_end>
static __device__ __forceinline__ void read4(const float *memory, float *four)
{
    const float4 whole = *(const float4 *)memory;
    four[0] = from_end ? whole.w : whole.x, four[1] = from_end ? whole.z : whole.y;
    four[2] = from_end ? whole.y : whole.z, four[3] = from_end ? whole.x : whole.w;
}

/* The group at `at` of the tile whose origin is `tile`; what is not in [first, last) becomes `otherwise`. */
template <int from_end>
static __device__ __forceinline__ void load4(const float *tile, int at, int first, int last, float otherwise,
                                             float *four)
{
    const float *const from = tile + place<from_end>(at, 4);
    if (is_whole(at, first, last)) {
        read4<from_end>(from, four);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            four[i] = at + i >= first && at + i < last ? from[from_end ? 3 - i : i] : otherwise;
    }
}

template <int from_end>
static __device__ __forceinline__ void store4(float *tile, int at, int first, int last, const float *four)
{
    float *const to = tile + place<from_end>(at, 4);
    if (is_whole(at, first, last)) {
        *(float4 *)to = from_end ? make_float4(four[3], four[2], four[1], four[0])
                                 : make_float4(four[0], four[1], four[2], four[3]);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (at + i >= first && at + i < last)
                to[from_end ? 3 - i : i] = four[i];
    }
}

/* The same for the kernels of short sequences. There nvcc (13.0) joins the whole group with the edge's single stores,
   and stores it in four pieces; __stwb, the plain store under its own name, stays whole. It may cost registers, so the
   kernels of long sequences do without. */
template <int from_end>
static __device__ __forceinline__ void store4_unsplit(float *tile, int at, int first, int last, const float *four)
{
    float *const to = tile + place<from_end>(at, 4);
    if (is_whole(at, first, last)) {
        const float4 whole = from_end ? make_float4(four[3], four[2], four[1], four[0])
                                      : make_float4(four[0], four[1], four[2], four[3]);
        __stwb((float4 *)to, whole);
    } else {
        store4<from_end>(tile, at, first, last, four);
    }
}

/* The group at `at` from the stage where its tile waits in shared memory, in memory's order; `stage` is the tile's
   origin there. One that an edge cuts was not copied. */
template <int from_end>
static __device__ __forceinline__ void take4(const float *stage, const float *tile, int at, int first, int last,
                                             float otherwise, float *four)
{
    if (is_whole(at, first, last))
        read4<from_end>(stage + place<from_end>(at, 4), four);
    else
        load4<from_end>(tile, at, first, last, otherwise, four);
}

#endif
