/* SPDX-License-Identifier: MIT */
/* direction.cuh - groups of four in either direction, for the kernels of chapters 06, 08 and 12: chapter 05's
   groups.cuh, and where in memory things are.

   Elements are counted in the order of the scan, from `origin` on; tiles, groups and edges are as before. Reversed, it
   is the same picture with memory running from right to left:

       forward    origin                            reversed                            origin
                  |.  0  1  2 |3  4  5  6 |  ...          ...  |6  5  4  3 |2  1  0  . |
       memory     ->                                                                  ->     */
#ifndef DIRECTION_CUH
#define DIRECTION_CUH

#include "../05_pipe/edges.cuh"

/* The multiple of 4 from which the elements of a sequence are counted that lies in memory at [start, stop). */
template <int reverse>
static __device__ __forceinline__ size_t origin_of(size_t start, size_t stop)
{
    return reverse ? (stop + 3) & ~(size_t)3 : start & ~(size_t)3;
}

/* Where the tile that begins with element number `base` has its own origin. */
template <int reverse>
static __device__ __forceinline__ size_t tile_at(size_t origin, size_t base)
{
    return reverse ? origin - base : origin + base;
}

/* Where in memory, counted from a tile's origin, its `count` elements from number `at` on begin. */
template <int reverse>
static __device__ __forceinline__ int place(int at, int count)
{
    return reverse ? -at - count : at;
}

/* Four elements that lie at `memory`, in the order of the scan. */
template <int reverse>
static __device__ __forceinline__ void read4(const float *memory, float *four)
{
    const float4 whole = *(const float4 *)memory;
    four[0] = reverse ? whole.w : whole.x, four[1] = reverse ? whole.z : whole.y;
    four[2] = reverse ? whole.y : whole.z, four[3] = reverse ? whole.x : whole.w;
}

/* The group at `at` of the tile whose origin is `tile`; what is not in [first, last) becomes `otherwise`. */
template <int reverse>
static __device__ __forceinline__ void load4(const float *tile, int at, int first, int last, float otherwise,
                                             float *four)
{
    const float *const from = tile + place<reverse>(at, 4);
    if (is_whole(at, first, last)) {
        read4<reverse>(from, four);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            four[i] = at + i >= first && at + i < last ? from[reverse ? 3 - i : i] : otherwise;
    }
}

template <int reverse>
static __device__ __forceinline__ void store4(float *tile, int at, int first, int last, const float *four)
{
    float *const to = tile + place<reverse>(at, 4);
    if (is_whole(at, first, last)) {
        *(float4 *)to =
            reverse ? make_float4(four[3], four[2], four[1], four[0]) : make_float4(four[0], four[1], four[2], four[3]);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (at + i >= first && at + i < last)
                to[reverse ? 3 - i : i] = four[i];
    }
}

/* The same for the kernels of short sequences. There nvcc (13.0) joins the whole group with the edge's single stores,
   and stores it in four pieces; __stwb, the plain store under its own name, stays whole. It may cost registers, so the
   kernels of long sequences do without. */
template <int reverse>
static __device__ __forceinline__ void store4_unsplit(float *tile, int at, int first, int last, const float *four)
{
    float *const to = tile + place<reverse>(at, 4);
    if (is_whole(at, first, last)) {
        const float4 whole =
            reverse ? make_float4(four[3], four[2], four[1], four[0]) : make_float4(four[0], four[1], four[2], four[3]);
        __stwb((float4 *)to, whole);
    } else {
        store4<reverse>(tile, at, first, last, four);
    }
}

/* The group at `at` from the stage where its tile waits in shared memory, in memory's order; `stage` is the tile's
   origin there. One that an edge cuts was not copied. */
template <int reverse>
static __device__ __forceinline__ void take4(const float *stage, const float *tile, int at, int first, int last,
                                             float otherwise, float *four)
{
    if (is_whole(at, first, last))
        read4<reverse>(stage + place<reverse>(at, 4), four);
    else
        load4<reverse>(tile, at, first, last, otherwise, four);
}

#endif
