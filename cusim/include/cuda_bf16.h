/* SPDX-License-Identifier: MIT */
/* cuda_bf16.h - bfloat16, the upper half of a float of 16 bits: for dtype, and arithmetic that rounds after each operation.

   The names are CUDA's. Each operation is done in float and rounded to the nearest, to even in between. */
#ifndef CUDA_BF16_H
#define CUDA_BF16_H

#include "cuda_runtime.h"

/* clang-format off */

struct __align__(2) __nv_bfloat16
{
    unsigned short bits;
    __nv_bfloat16() = default;
    inline __nv_bfloat16(float value);
    inline operator float() const;
};
struct __align__(4) __nv_bfloat162
{
    typedef __nv_bfloat16 sim_member;
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y)
    {
    }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

SIM_INLINE float __bfloat162float(__nv_bfloat16 a)
{
    return __uint_as_float((unsigned)a.bits << 16);
}

SIM_INLINE __nv_bfloat16 __float2bfloat16_rn(float value)
{
    const unsigned bits = __float_as_uint(value);
    __nv_bfloat16 a;

    a.bits = value != value ? 0x7fff : (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
    return a;
}

SIM_INLINE __nv_bfloat16 __float2bfloat16(float value) { return __float2bfloat16_rn(value); }
inline __nv_bfloat16::__nv_bfloat16(float value) { bits = __float2bfloat16_rn(value).bits; }
inline __nv_bfloat16::operator float() const { return __bfloat162float(*this); }
SIM_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162{__nv_bfloat16(x), __nv_bfloat16(y)}; }
SIM_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __nv_bfloat162{__nv_bfloat16(a.x), __nv_bfloat16(a.y)}; }
SIM_INLINE float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2((float)a.x, (float)a.y); }
SIM_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
SIM_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
SIM_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162{x, y}; }
SIM_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162{a, a}; }
SIM_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
SIM_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { __nv_bfloat16 a; a.bits = bits; return a; }
SIM_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162{x, y}; }
SIM_INLINE __nv_bfloat162 __float2bfloat162_rn(float a) { return __bfloat162bfloat162(__float2bfloat16_rn(a)); }
SIM_INLINE __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162{a.x, a.x}; }
SIM_INLINE __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162{a.y, a.y}; }
SIM_INLINE __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162{a.x, b.x}; }
SIM_INLINE __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162{a.y, b.y}; }
SIM_INLINE __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162{a.y, a.x}; }
SIM_INLINE short __bfloat16_as_short(__nv_bfloat16 a) { return (short)a.bits; }
SIM_INLINE __nv_bfloat16 __short_as_bfloat16(short bits) { return __ushort_as_bfloat16((unsigned short)bits); }
SIM_INLINE __nv_bfloat16 __double2bfloat16(double a) { return __float2bfloat16_rn((float)a); }
#define SIM_CONVERT(type, name)                                                                                        \
    SIM_INLINE __nv_bfloat16 __##name##2bfloat16_rn(type a) { return __float2bfloat16_rn((float)a); }                  \
    SIM_INLINE type __bfloat162##name##_rn(__nv_bfloat16 a) { return sim_to_integer<type>(rintf(__bfloat162float(a))); } \
    SIM_INLINE type __bfloat162##name##_rz(__nv_bfloat16 a) { return sim_to_integer<type>(truncf(__bfloat162float(a))); }
SIM_CONVERT(int, int)
SIM_CONVERT(unsigned, uint)
SIM_CONVERT(short, short)
SIM_CONVERT(unsigned short, ushort)
SIM_CONVERT(long long, ll)
SIM_CONVERT(unsigned long long, ull)
#undef SIM_CONVERT
#define SIM_HALF __nv_bfloat16
#define SIM_HALF2 __nv_bfloat162
#include "sim_half.h"
#undef SIM_HALF
#undef SIM_HALF2
/* clang-format on */

#endif
