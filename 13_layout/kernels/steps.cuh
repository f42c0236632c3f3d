/* SPDX-License-Identifier: MIT */
/* steps.cuh - a warp's steps: `rows` of them, of each lane's `width` channels. */
#ifndef STEPS_CUH
#define STEPS_CUH

#include "channels.cuh"
#include "packed.cuh"

/* Loads them into registers. Behind the `count` steps that there are stands `filler`. */
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

/* Stores `count` of them, a word a lane, from shared memory. */
template <int dtype>
static __device__ __forceinline__ void store_steps(const struct walked *array, const struct place *place, int count,
                                                   const unsigned *words, int next)
{
    char *at = element<dtype>(array, place->batch, place->position, place->channel);
    for (int r = 0; r < count; r++, at += array->step)
        *(unsigned *)at = words[r * next];
}

#endif
