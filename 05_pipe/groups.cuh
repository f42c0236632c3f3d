/* SPDX-License-Identifier: MIT */
/* groups.cuh - groups of four and the edges of a sequence, as in float4.cu, for prefetch.cu and all later kernels of
   chapter 05.

   Tiles begin at multiples of 16 bytes. In a tile the sequence's own elements are [first, last):

            first                                    last
       |.  .  0  1 |2  3  4  5 |6  7  8  9 | ... |L-2 L-1 .  . |      a whole group moves as a float4, one that an edge
                                                                      cuts element by element, and only its own    */
#ifndef GROUPS_CUH
#define GROUPS_CUH

#include "edges.cuh"

/* The group of four at `at`; what is not in [first, last) becomes `otherwise`. */
static __device__ __forceinline__ void load4(const float *tile, int at, int first, int last, float otherwise,
                                             float *four)
{
    if (is_whole(at, first, last)) {
        const float4 whole = *(const float4 *)(tile + at);
        four[0] = whole.x, four[1] = whole.y, four[2] = whole.z, four[3] = whole.w;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            four[i] = at + i >= first && at + i < last ? tile[at + i] : otherwise;
    }
}

/* To global memory. __stwb is its plain store under its own name: nvcc (13.0) would join an assignment with the edge's
   single stores, and store the whole group in four pieces. */
static __device__ __forceinline__ void store4(float *tile, int at, int first, int last, const float *four)
{
    if (is_whole(at, first, last)) {
        __stwb((float4 *)(tile + at), make_float4(four[0], four[1], four[2], four[3]));
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (at + i >= first && at + i < last)
                tile[at + i] = four[i];
    }
}

/* A group from the stage where its tile waits in shared memory. One that an edge cuts was not copied there. */
static __device__ __forceinline__ void take4(const float *stage, const float *tile, int at, int first, int last,
                                             float otherwise, float *four)
{
    if (is_whole(at, first, last)) {
        const float4 whole = *(const float4 *)(stage + at);
        four[0] = whole.x, four[1] = whole.y, four[2] = whole.z, four[3] = whole.w;
    } else {
        load4(tile, at, first, last, otherwise, four);
    }
}

#endif
