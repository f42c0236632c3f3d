/* SPDX-License-Identifier: MIT */
/* cuda_fp8.h - floats of 8 bits, to keep numbers in: e4m3 has no infinity, and its largest number is 448; e5m2's is 57344.

   The names are CUDA's. A number is rounded to the nearest, to even in between, and what is too large becomes the largest. */
#ifndef CUDA_FP8_H
#define CUDA_FP8_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

SIM_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double a, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind)
{
    const int bits = kind == __NV_E4M3 ? 3 : 2,
              least = kind == __NV_E4M3 ? -6 : -14; /* of the fraction; the exponent */
    const double most = kind == __NV_E4M3 ? 448 : 57344, size = fabs(a);
    const unsigned sign = signbit(a) ? 0x80 : 0;

    if (a != a)
        return 0x7f;
    const int exponent = size < ldexp(1, least) ? least : size > most ? ilogb(most) : ilogb(size);
    const double steps = rint(ldexp(size > 2 * most ? 2 * most : size, bits - exponent));
    if (ldexp(steps, exponent - bits) > most || size > 2 * most)
        return (__nv_fp8_storage_t)(sign | (saturate == __NV_SATFINITE ? (kind == __NV_E4M3 ? 0x7e : 0x7b)
                                                                       : (kind == __NV_E4M3 ? 0x7f : 0x7c)));
    /* the first step of an exponent's numbers is 1 << bits, but for the least, whose count from 0 */
    return (__nv_fp8_storage_t)(sign | (unsigned)(steps + ((exponent - least) << bits)));
}
SIM_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float a, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_double_to_fp8(a, saturate, kind);
}
SIM_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 a, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(a.x, saturate, kind) |
                                  __nv_cvt_float_to_fp8(a.y, saturate, kind) << 8);
}
SIM_INLINE float sim_fp8_to_float(__nv_fp8_storage_t a, __nv_fp8_interpretation_t kind)
{
    const int bits = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
    const int exponent = (a & 0x7f) >> bits, fraction = a & ((1 << bits) - 1);
    const bool special = kind == __NV_E4M3 ? (a & 0x7f) == 0x7f : exponent == 31;
    const float size = special         ? (kind == __NV_E5M2 && fraction == 0 ? INFINITY : NAN)
                       : exponent == 0 ? ldexpf((float)fraction, 1 - bias - bits)
                                       : ldexpf((float)(fraction + (1 << bits)), exponent - bias - bits);

    return a & 0x80 ? -size : size;
}

/* clang-format off */
#define SIM_FP8(name, kind)                                                                                            \
    struct name {                                                                                                      \
        __nv_fp8_storage_t __x;                                                                                        \
        name() = default;                                                                                              \
        explicit name(float a) : __x(__nv_cvt_float_to_fp8(a, __NV_SATFINITE, kind)) {}                                \
        explicit name(double a) : __x(__nv_cvt_double_to_fp8(a, __NV_SATFINITE, kind)) {}                              \
        explicit name(__half a) : name((float)a) {}                                                                    \
        explicit name(__nv_bfloat16 a) : name((float)a) {}                                                             \
        template <class I, class = typename std::enable_if<std::is_integral<I>::value>::type>                          \
        explicit name(I a) : name((double)a) {}                                                                        \
        explicit operator float() const { return sim_fp8_to_float(__x, kind); }                                        \
        explicit operator double() const { return (float)*this; }                                                      \
        explicit operator __half() const { return __half((float)*this); }                                              \
        explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                                \
        explicit operator bool() const { return (__x & 0x7f) != 0; }                                                   \
        explicit operator int() const { return __float2int_rz((float)*this); }                                         \
        explicit operator unsigned() const { return __float2uint_rz((float)*this); }                                   \
    };                                                                                                                 \
    struct __align__(2) SIM_FP8_OF(name, 2) {                                                                          \
        __nv_fp8x2_storage_t __x;                                                                                      \
        SIM_FP8_OF(name, 2)() = default;                                                                               \
        explicit SIM_FP8_OF(name, 2)(float2 a) : __x(__nv_cvt_float2_to_fp8x2(a, __NV_SATFINITE, kind)) {}             \
        explicit SIM_FP8_OF(name, 2)(__half2 a) : SIM_FP8_OF(name, 2)(__half22float2(a)) {}                            \
        explicit operator float2() const                                                                               \
        { return float2{sim_fp8_to_float(__x & 255, kind), sim_fp8_to_float((__nv_fp8_storage_t)(__x >> 8), kind)}; }  \
        explicit operator __half2() const { return __float22half2_rn((float2)*this); }                                 \
    };                                                                                                                 \
    struct __align__(4) SIM_FP8_OF(name, 4) {                                                                          \
        __nv_fp8x4_storage_t __x;                                                                                      \
        SIM_FP8_OF(name, 4)() = default;                                                                               \
        explicit SIM_FP8_OF(name, 4)(float4 a)                                                                         \
            : __x(__nv_cvt_float2_to_fp8x2(float2{a.x, a.y}, __NV_SATFINITE, kind) |                                   \
                  (unsigned)__nv_cvt_float2_to_fp8x2(float2{a.z, a.w}, __NV_SATFINITE, kind) << 16) {}                 \
        explicit operator float4() const                                                                               \
        {                                                                                                              \
            return float4{sim_fp8_to_float(__x & 255, kind), sim_fp8_to_float(__x >> 8 & 255, kind),                   \
                          sim_fp8_to_float(__x >> 16 & 255, kind), sim_fp8_to_float(__x >> 24, kind)};                 \
        }                                                                                                              \
    };
#define SIM_FP8_OF(name, n) SIM_FP8_OF##n##_##name
#define SIM_FP8_OF2___nv_fp8_e4m3 __nv_fp8x2_e4m3
#define SIM_FP8_OF4___nv_fp8_e4m3 __nv_fp8x4_e4m3
#define SIM_FP8_OF2___nv_fp8_e5m2 __nv_fp8x2_e5m2
#define SIM_FP8_OF4___nv_fp8_e5m2 __nv_fp8x4_e5m2
SIM_FP8(__nv_fp8_e4m3, __NV_E4M3)
SIM_FP8(__nv_fp8_e5m2, __NV_E5M2)
/* clang-format on */

#endif
