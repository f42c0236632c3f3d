/* SPDX-License-Identifier: MIT */
/* steps.cuh - a warp's steps in registers: `rows` of them, of each lane's `width` channels. */
#ifndef STEPS_CUH
#define STEPS_CUH

#include <cuda_pipeline.h>

#include "channels.cuh"
#include "packed.cuh"

/* Loads them. Behind the `count` steps that there are stands `filler`. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void load_steps(const struct walked *array, const struct place *place, int count,
                                                  unsigned filler, unsigned words[][WORDS(dtype, width)])
{
    const char *at = element<dtype>(array, place->batch, place->position, place->channel);
    if (count == rows) {
#pragma unroll
        for (int r = 0; r < rows; r++, at += array->step)
            load_channels<dtype, width>(at, words[r]);
        return;
    }
#pragma unroll
    for (int r = 0; r < rows; r++, at += array->step) {
        if (r < count) {
            load_channels<dtype, width>(at, words[r]);
        } else {
#pragma unroll
            for (int w = 0; w < WORDS(dtype, width); w++)
                words[r][w] = filler;
        }
    }
}

/* ---- by way of shared memory ---- */

/* Bytes of dynamic shared memory that a block's threads need for their steps of one array. */
#define STAGE_BYTES(dtype, width, rows) ((rows) * (width) * ((dtype) == FLOAT32 ? 4 : 2) * blockDim.x)

/* Asks for the steps of a thread, `later` steps behind `place`, as far as they are there. A copy is of 4, 8 or 16
   bytes. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void request_steps(const struct walked *array, const struct walk *walk,
                                                     const struct place *place, int later, char *stage)
{
    constexpr int bytes = width * (dtype == FLOAT32 ? 4 : 2);
    const long long position = place->position + later, left = walk->seq_len - position;
    const char *at = element<dtype>(array, place->batch, position, place->channel);
    char *to = stage + threadIdx.x * bytes;
    if (place->channel >= walk->channels)
        return;
    if (left >= rows) {
#pragma unroll
        for (int r = 0; r < rows; r++, at += array->step)
            __pipeline_memcpy_async(to + r * bytes * blockDim.x, at, bytes);
        return;
    }
#pragma unroll
    for (int r = 0; r < rows; r++, at += array->step)
        if (r < left)
            __pipeline_memcpy_async(to + r * bytes * blockDim.x, at, bytes);
}

/* Takes what has arrived. Behind the `count` steps that there are stands `filler`. */
template <int dtype, int width, int rows>
static __device__ __forceinline__ void take_steps(const char *stage, int count, unsigned filler,
                                                  unsigned words[][WORDS(dtype, width)])
{
    constexpr int bytes = width * (dtype == FLOAT32 ? 4 : 2);
    const char *from = stage + threadIdx.x * bytes;
#pragma unroll
    for (int r = 0; r < rows; r++, from += bytes * blockDim.x) {
        if (bytes == 4) {
            words[r][0] = *(const unsigned *)from;
        } else if (bytes == 8) {
            const uint2 two = *(const uint2 *)from;
            words[r][0] = two.x, words[r][WORDS(dtype, width) - 1] = two.y;
        } else {
            const uint4 four = *(const uint4 *)from;
            const unsigned all[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
            for (int w = 0; w < WORDS(dtype, width); w++)
                words[r][w] = all[w];
        }
    }
    if (count < rows) {
#pragma unroll
        for (int r = 0; r < rows; r++)
#pragma unroll
            for (int w = 0; w < WORDS(dtype, width); w++)
                words[r][w] = r < count ? words[r][w] : filler;
    }
}

#endif
