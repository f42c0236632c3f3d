/* SPDX-License-Identifier: MIT */
/* channels.cuh - a lane's `width` neighbouring channels of one step, 1, 2 or 4 of them: loaded with one instruction,
   kept as the words that came, made float32 where they are used, and stored.

       float32   width words            bf16, fp16   two channels in a word, the first in its lower half         */
#ifndef CHANNELS_CUH
#define CHANNELS_CUH

#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/fast_math.h"
#include "walk.h"

/* A channel of a step in an array: of batch b, at a position of the walk. */
template <int dtype>
static __device__ __forceinline__ char *element(const struct walked *array, long long batch, long long position,
                                                long long channel)
{
    return array->base + batch * array->batch + position * array->step + channel * (dtype == FLOAT32 ? 4 : 2);
}

/* The registers, of 32 bits each, that hold them. */
#define WORDS(dtype, width)                                                                                            \
    ((width) * ((dtype) == FLOAT32 ? 4 : 2) <= 4 ? 1 : (width) * ((dtype) == FLOAT32 ? 4 : 2) / 4)

template <int dtype, int width>
static __device__ __forceinline__ void load_channels(const void *from, unsigned words[])
{
    constexpr int bytes = width * (dtype == FLOAT32 ? 4 : 2);
    if (bytes == 2) {
        words[0] = *(const unsigned short *)from;
    } else if (bytes == 4) {
        words[0] = *(const unsigned *)from;
    } else if (bytes == 8) {
        const uint2 two = *(const uint2 *)from;
        words[0] = two.x, words[WORDS(dtype, width) - 1] = two.y;
    } else {
        const uint4 four = *(const uint4 *)from;
        const unsigned all[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int w = 0; w < WORDS(dtype, width); w++)
            words[w] = all[w];
    }
}

/* Two neighbouring coefficients 1, or their logarithms, as a word: a step with these and an input of 0 changes
   nothing. */
static __device__ __forceinline__ unsigned identity_coeff(int dtype, bool is_log)
{
    return is_log ? 0 : dtype == FLOAT32 ? 0x3F800000 : dtype == BF16 ? 0x3F803F80 : 0x3C003C00;
}

template <int dtype, int width>
static __device__ __forceinline__ void unpack_channels(const unsigned words[], float values[width])
{
    if (dtype == FLOAT32) {
#pragma unroll
        for (int v = 0; v < width; v++)
            values[v] = __uint_as_float(words[v]);
    } else {
#pragma unroll
        for (int v = 0; v < width; v += 2) {
            const float2 two = unpack<dtype>(words[v / 2]);
            values[v] = two.x;
            if (v + 1 < width)
                values[v + 1] = two.y;
        }
    }
}

/* The coefficients among them, from their logarithms if is_log: e^g is 2^(g log2(e)). */
template <int dtype, int width>
static __device__ __forceinline__ void unpack_coeffs(const unsigned words[], bool is_log, float values[width])
{
    unpack_channels<dtype, width>(words, values);
    if (is_log) {
#pragma unroll
        for (int v = 0; v < width; v++)
            values[v] = fast_exp2(values[v] * 1.44269504f);
    }
}

template <int dtype, int width>
static __device__ __forceinline__ void store_channels(void *to, const float values[width])
{
    constexpr int bytes = width * (dtype == FLOAT32 ? 4 : 2);
    unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int v = 0; v < width; v++) {
        if (dtype == FLOAT32)
            words[v] = __float_as_uint(values[v]);
        else if (v % 2 == 0)
            words[v / 2] = pack<dtype>(values[v], v + 1 < width ? values[v + 1] : 0.0f);
    }
    if (bytes == 2)
        *(unsigned short *)to = (unsigned short)words[0];
    else if (bytes == 4)
        *(unsigned *)to = words[0];
    else if (bytes == 8)
        *(uint2 *)to = make_uint2(words[0], words[1]);
    else
        *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
}

#endif
