/* SPDX-License-Identifier: MIT */
/* load_store.cuh - loads and stores, for the kernels of chapter 10, of arrays in float32, bf16 or fp16, whose elements
   are float32 in registers: one, two or four neighbours at once, which lie at a multiple of two or four, or 16 bytes.
   What is streamed is loaded and stored with the hint that nobody will ask for it again soon (__ldcs, __stcs). */
#ifndef LOAD_STORE_CUH
#define LOAD_STORE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdint.h>

#include "../../common/base/dtype.h"

/* The kernel for a type. */
template <typename kernel>
static kernel *by_dtype(enum dtype dtype, kernel *float32, kernel *bf16, kernel *fp16)
{
    return dtype == FLOAT32 ? float32 : dtype == BF16 ? bf16 : fp16;
}

/* Bytes of one element. */
static __host__ __device__ __forceinline__ size_t element_bytes(int dtype)
{
    return dtype_bytes((enum dtype)dtype);
}

/* Element i of an array. */
template <int dtype>
static __device__ __forceinline__ float read1(const void *array, size_t i)
{
    if (dtype == BF16)
        return __bfloat162float(((const __nv_bfloat16 *)array)[i]);
    if (dtype == FP16)
        return __half2float(((const __half *)array)[i]);
    return ((const float *)array)[i];
}

template <int dtype>
static __device__ __forceinline__ void write1(void *array, size_t i, float value)
{
    if (dtype == BF16)
        ((__nv_bfloat16 *)array)[i] = __float2bfloat16_rn(value);
    else if (dtype == FP16)
        ((__half *)array)[i] = __float2half_rn(value);
    else
        ((float *)array)[i] = value;
}

/* Two elements of 16 bits in a word, the first in its lower half. */
template <int dtype>
static __device__ __forceinline__ float2 unpack(unsigned word)
{
    if (dtype == BF16) /* the upper halves of float32 numbers */
        return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000u));
    const unsigned short low = (unsigned short)word, high = (unsigned short)(word >> 16);
    return make_float2(__half2float(__ushort_as_half(low)), __half2float(__ushort_as_half(high)));
}

template <int dtype>
static __device__ __forceinline__ unsigned pack(float x, float y)
{
    if (dtype == BF16) {
        const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
        return __bfloat16_as_ushort(__low2bfloat16(both)) | (unsigned)__bfloat16_as_ushort(__high2bfloat16(both)) << 16;
    }
    const __half2 both = __floats2half2_rn(x, y);
    return __half_as_ushort(__low2half(both)) | (unsigned)__half_as_ushort(__high2half(both)) << 16;
}

/* Elements i ... i + 3, i a multiple of four, from shared memory, or streamed from global memory. */
template <int dtype>
static __device__ __forceinline__ void read4(const void *array, size_t i, float x[4])
{
    if (dtype == FLOAT32) {
        const float4 four = ((const float4 *)array)[i / 4];
        x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    } else {
        const uint2 words = ((const uint2 *)array)[i / 4];
        const float2 a = unpack<dtype>(words.x), b = unpack<dtype>(words.y);
        x[0] = a.x, x[1] = a.y, x[2] = b.x, x[3] = b.y;
    }
}

template <int dtype>
static __device__ __forceinline__ void stream4(const void *array, size_t i, float x[4])
{
    if (dtype == FLOAT32) {
        const float4 four = __ldcs((const float4 *)array + i / 4);
        x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    } else {
        const uint2 words = __ldcs((const uint2 *)array + i / 4);
        const float2 a = unpack<dtype>(words.x), b = unpack<dtype>(words.y);
        x[0] = a.x, x[1] = a.y, x[2] = b.x, x[3] = b.y;
    }
}

/* The elements of 16 bytes: four, or eight of 16 bits. */
template <int dtype>
static __device__ __forceinline__ void unpack16(uint4 words, float *x)
{
    const unsigned word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int w = 0; w < 4; w++) {
        if (dtype == FLOAT32) {
            x[w] = __uint_as_float(word[w]);
        } else {
            const float2 two = unpack<dtype>(word[w]);
            x[2 * w] = two.x, x[2 * w + 1] = two.y;
        }
    }
}

/* The other way round, to global memory, if `wanted`. The words are made in any case, so that of many such stores in a
   row only the stores have a condition, and the words of all can be made side by side. */
template <int dtype>
static __device__ __forceinline__ void write16(void *to, const float *x, bool wanted = true)
{
    unsigned word[4];
#pragma unroll
    for (int w = 0; w < 4; w++)
        word[w] = dtype == FLOAT32 ? __float_as_uint(x[w]) : pack<dtype>(x[2 * w], x[2 * w + 1]);
    if (wanted)
        *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
}

/* Streams four elements to global memory. */
template <int dtype>
static __device__ __forceinline__ void write4(void *array, size_t i, const float x[4])
{
    if (dtype == FLOAT32)
        __stcs((float4 *)array + i / 4, make_float4(x[0], x[1], x[2], x[3]));
    else
        __stcs((uint2 *)array + i / 4, make_uint2(pack<dtype>(x[0], x[1]), pack<dtype>(x[2], x[3])));
}

/* Elements i and i + 1, i a multiple of two. */
template <int dtype>
static __device__ __forceinline__ void read2(const void *array, size_t i, float x[2])
{
    if (dtype == FLOAT32) {
        const float2 two = ((const float2 *)array)[i / 2];
        x[0] = two.x, x[1] = two.y;
    } else {
        const float2 two = unpack<dtype>(((const unsigned *)array)[i / 2]);
        x[0] = two.x, x[1] = two.y;
    }
}

template <int dtype>
static __device__ __forceinline__ void write2(void *array, size_t i, const float x[2])
{
    if (dtype == FLOAT32)
        ((float2 *)array)[i / 2] = make_float2(x[0], x[1]);
    else
        ((unsigned *)array)[i / 2] = pack<dtype>(x[0], x[1]);
}

#endif
