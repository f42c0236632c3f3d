/* SPDX-License-Identifier: MIT */
/* tile_tma.cuh - a tile by way of shared memory, for persistent_cluster.cu and persistent_cluster_backward.cu: TMA
   brings the groups of four that no edge of the tile cuts, and each warp takes its rows from there. */
#ifndef TILE_TMA_CUH
#define TILE_TMA_CUH

#include "../common/cuda/tma.h"
#include "tile.cuh"

/* The groups of a tile that no edge cuts, in one array: how many bytes they are, and their load into a stage, where the
   tile's origin is `to`. One thread calls this. */
static __device__ __forceinline__ unsigned groups_bytes(const struct tile *tile)
{
    const int first = (tile->first + 3) & ~3, last = tile->last & ~3;
    return last > first ? (last - first) * sizeof(float) : 0;
}

template <int from_end>
static __device__ __forceinline__ void groups_tma_load(const float *array, const struct tile *tile, float *to,
                                                       uint64_t *arrived)
{
    const unsigned bytes = groups_bytes(tile);
    const int at = place<from_end>((tile->first + 3) & ~3, bytes / sizeof(float));
    if (bytes != 0)
        tma_load(to + at, array + tile->at + at, bytes, arrived);
}

/* The warp's rows of one array, from a stage in which the tile's origin is `origin`; `array` is where they came from.
   If no edge of the tile cuts a group, each group is there as a whole or not at all, which needs fewer branches. */
template <int rows, int from_end>
static __device__ __forceinline__ void rows_from_stage(const float *origin, const float *array, const struct tile *tile,
                                                       int own, float otherwise, float (*x)[4])
{
#pragma unroll
    for (int r = 0; r < rows; r++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            x[r][i] = otherwise;
    if ((tile->first | tile->last) % 4 == 0) {
#pragma unroll
        for (int r = 0; r < rows; r++)
            if (is_whole(own + r * PIPE_ROW, tile->first, tile->last))
                read4<from_end>(origin + place<from_end>(own + r * PIPE_ROW, 4), x[r]);
    } else {
#pragma unroll
        for (int r = 0; r < rows; r++)
            take4<from_end>(origin, array + tile->at, own + r * PIPE_ROW, tile->first, tile->last, otherwise, x[r]);
    }
}

#endif
