/* SPDX-License-Identifier: MIT */
/* dtype.h - the types in which an operation may keep its larger arrays. Kernels compute in float32 all the same: they
   convert what they load, and round what they store to the nearest value of the type, to the even one in between.

       float32   sign, 8 bits of exponent, 23 of fraction
       bf16      sign, 8 bits of exponent,  7 of fraction: the upper half of a float32
       fp16      sign, 5 bits of exponent, 10 of fraction: up to 65504, multiples of 2^-24 below 2^-14 (IEEE 754)

   The functions work on the host and, in a .cu file, on the device. Kernels have cuda_bf16.h and cuda_fp16.h, which
   convert in one instruction. */
#ifndef DTYPE_H
#define DTYPE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host_device.h"

/* INT32 is none of these: some arrays hold whole numbers, whatever the others are kept in. */
enum dtype { FLOAT32, BF16, FP16, NUM_DTYPES, INT32 = NUM_DTYPES };

/* "float32", "bf16" or "fp16". */
static inline const char *dtype_name(enum dtype dtype)
{
    static const char *const names[NUM_DTYPES] = {"float32", "bf16", "fp16"};
    return names[dtype];
}

/* Bytes of an element. */
static inline HOST_DEVICE size_t dtype_bytes(enum dtype dtype)
{
    return dtype == FLOAT32 || dtype == INT32 ? 4 : 2;
}

static inline HOST_DEVICE float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline HOST_DEVICE uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline HOST_DEVICE float float_of_bf16(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

/* Rounds; what is too large becomes infinite, a NaN 0x7fff, as on a GPU. */
static inline HOST_DEVICE uint16_t bf16_of_float(float value)
{
    const uint32_t bits = bits_of_float(value);
    return isnan(value) ? 0x7FFF : (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static inline HOST_DEVICE float float_of_fp16(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31)
        return float_of_bits(sign | 0x7F800000 | fraction << 13);
    if (exponent == 0)
        return float_of_bits(sign | bits_of_float((float)fraction * 0x1p-24f));
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13); /* 112: the exponents' biases, 127 and 15 */
}

/* Rounds; what is too large becomes infinite, a NaN 0x7fff, as on a GPU. */
static inline HOST_DEVICE uint16_t fp16_of_float(float value)
{
    const uint32_t sign = bits_of_float(value) >> 16 & 0x8000;
    const float size = fabsf(value);
    if (isnan(value))
        return 0x7FFF;
    if (size >= 65520.0f) /* half a step above the largest value, which is odd */
        return (uint16_t)(sign | 0x7C00);
    if (size < 0x1p-14f) /* the sum is rounded to multiples of 2^-24; its fraction counts them */
        return (uint16_t)(sign | (bits_of_float(size + 0.5f) - bits_of_float(0.5f)));
    const uint32_t rest = bits_of_float(size) - (112u << 23);
    return (uint16_t)(sign | (rest + 0xFFF + (rest >> 13 & 1)) >> 13);
}

/* Element `index` of an array of that type. One that has all bits set, as before a kernel has written it, is a float
   with all bits set. */
static inline HOST_DEVICE float dtype_get(enum dtype dtype, const void *values, size_t index)
{
    if (dtype == FLOAT32)
        return ((const float *)values)[index];
    if (dtype == INT32)
        return (float)((const int32_t *)values)[index];
    const uint16_t bits = ((const uint16_t *)values)[index];
    if (bits == 0xFFFF)
        return float_of_bits(0xFFFFFFFF);
    return dtype == BF16 ? float_of_bf16(bits) : float_of_fp16(bits);
}

static inline HOST_DEVICE void dtype_set(enum dtype dtype, void *values, size_t index, float value)
{
    if (dtype == FLOAT32)
        ((float *)values)[index] = value;
    else if (dtype == INT32)
        ((int32_t *)values)[index] = (int32_t)value;
    else
        ((uint16_t *)values)[index] = dtype == BF16 ? bf16_of_float(value) : fp16_of_float(value);
}

/* The most by which rounding to the type changes a float of up to `size`, half a step of the type there; 0 for float32,
   in which nothing is rounded. */
static inline HOST_DEVICE double dtype_rounding(enum dtype dtype, double size)
{
    const int bits = dtype == BF16 ? 8 : 11, least = dtype == BF16 ? -126 : -14;
    int exponent;
    if (dtype == FLOAT32)
        return 0.0;
    frexp(size, &exponent); /* 2^(exponent - 1) <= size < 2^exponent, but 0 for 0 */
    return ldexp(0.5, (size > 0.0 && exponent - 1 > least ? exponent - 1 : least) - (bits - 1));
}

/* The least size that becomes infinite when it is rounded to the type. */
static inline HOST_DEVICE double dtype_overflow(enum dtype dtype)
{
    return dtype == FP16 ? 65520.0 : dtype == BF16 ? 0x1.FFp127 : 0x1.FFFFFFp127;
}

#endif
