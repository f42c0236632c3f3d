/* SPDX-License-Identifier: MIT */
/* cuda_fp16.h - half, a float of 16 bits: for dtype, and arithmetic that rounds after each operation.

   The names are CUDA's. Each operation is done in float and rounded to the nearest, to even in between. */
#ifndef CUDA_FP16_H
#define CUDA_FP16_H

#include "cuda_runtime.h"

/* clang-format off */

struct __align__(2) __half
{
    unsigned short bits;
    __half() = default;
    inline __half(float value);
    inline operator float() const;
};
struct __align__(4) __half2
{
    typedef __half sim_member;
    __half x, y;
    __half2() = default;
    __half2(__half x, __half y) : x(x), y(y)
    {
    }
};
typedef __half half;
typedef __half2 half2;

SIM_INLINE float __half2float(__half a)
{
    const unsigned sign = (a.bits & 0x8000u) << 16, exponent = a.bits >> 10 & 31, fraction = a.bits & 1023;

    if (exponent == 31)
        return __uint_as_float(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0)
        return __uint_as_float(sign | __float_as_uint((float)fraction * 0x1p-24f));
    return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);
}

SIM_INLINE __half __float2half_rn(float value)
{
    const unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000u;
    const float size = fabsf(value);
    __half a;

    if (size != size)
        a.bits = 0x7fff;
    else if (size >= 65520.0f)
        a.bits = (unsigned short)(sign | 0x7c00u);
    else if (size < 0x1p-14f)
        a.bits = (unsigned short)(sign | (unsigned)rintf(size * 0x1p24f));
    else {
        const unsigned rest = __float_as_uint(size) - (112u << 23);
        a.bits = (unsigned short)(sign | (rest + 0xfffu + (rest >> 13 & 1)) >> 13);
    }
    return a;
}

SIM_INLINE __half __float2half(float value) { return __float2half_rn(value); }
inline __half::__half(float value) { bits = __float2half_rn(value).bits; }
inline __half::operator float() const { return __half2float(*this); }
SIM_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2{__half(x), __half(y)}; }
SIM_INLINE __half2 __float22half2_rn(float2 a) { return __half2{__half(a.x), __half(a.y)}; }
SIM_INLINE float2 __half22float2(__half2 a) { return make_float2((float)a.x, (float)a.y); }
SIM_INLINE __half __low2half(__half2 a) { return a.x; }
SIM_INLINE __half __high2half(__half2 a) { return a.y; }
SIM_INLINE __half2 __halves2half2(__half x, __half y) { return __half2{x, y}; }
SIM_INLINE __half2 __half2half2(__half a) { return __half2{a, a}; }
SIM_INLINE unsigned short __half_as_ushort(__half a) { return a.bits; }
SIM_INLINE __half __ushort_as_half(unsigned short bits) { __half a; a.bits = bits; return a; }
SIM_INLINE __half2 make_half2(__half x, __half y) { return __half2{x, y}; }
SIM_INLINE __half2 __float2half2_rn(float a) { return __half2half2(__float2half_rn(a)); }
SIM_INLINE __half2 __low2half2(__half2 a) { return __half2{a.x, a.x}; }
SIM_INLINE __half2 __high2half2(__half2 a) { return __half2{a.y, a.y}; }
SIM_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2{a.x, b.x}; }
SIM_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2{a.y, b.y}; }
SIM_INLINE __half2 __lowhigh2highlow(__half2 a) { return __half2{a.y, a.x}; }
SIM_INLINE short __half_as_short(__half a) { return (short)a.bits; }
SIM_INLINE __half __short_as_half(short bits) { return __ushort_as_half((unsigned short)bits); }
SIM_INLINE __half __double2half(double a) { return __float2half_rn((float)a); }
#define SIM_CONVERT(type, name)                                                                                        \
    SIM_INLINE __half __##name##2half_rn(type a) { return __float2half_rn((float)a); }                                 \
    SIM_INLINE type __half2##name##_rn(__half a) { return sim_to_integer<type>(rintf(__half2float(a))); }              \
    SIM_INLINE type __half2##name##_rz(__half a) { return sim_to_integer<type>(truncf(__half2float(a))); }
SIM_CONVERT(int, int)
SIM_CONVERT(unsigned, uint)
SIM_CONVERT(short, short)
SIM_CONVERT(unsigned short, ushort)
SIM_CONVERT(long long, ll)
SIM_CONVERT(unsigned long long, ull)
#undef SIM_CONVERT
#define SIM_HALF __half
#define SIM_HALF2 __half2
#include "sim_half.h"
#undef SIM_HALF
#undef SIM_HALF2
/* clang-format on */

#endif
