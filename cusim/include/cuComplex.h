/* SPDX-License-Identifier: MIT */
/* cuComplex.h - complex numbers, as two floats or two doubles. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include "cuda_runtime.h"

#ifdef __cplusplus
typedef float2 cuFloatComplex, cuComplex;
typedef double2 cuDoubleComplex;

#define SIM_COMPLEX(c, f, type, real, absolute)                                                                        \
    SIM_INLINE type make_##c(real x, real y)                                                                           \
    {                                                                                                                  \
        return type{x, y};                                                                                             \
    }                                                                                                                  \
    SIM_INLINE real cuCreal##f(type a)                                                                                 \
    {                                                                                                                  \
        return a.x;                                                                                                    \
    }                                                                                                                  \
    SIM_INLINE real cuCimag##f(type a)                                                                                 \
    {                                                                                                                  \
        return a.y;                                                                                                    \
    }                                                                                                                  \
    SIM_INLINE type cuConj##f(type a)                                                                                  \
    {                                                                                                                  \
        return type{a.x, -a.y};                                                                                        \
    }                                                                                                                  \
    SIM_INLINE type cuCadd##f(type a, type b)                                                                          \
    {                                                                                                                  \
        return type{a.x + b.x, a.y + b.y};                                                                             \
    }                                                                                                                  \
    SIM_INLINE type cuCsub##f(type a, type b)                                                                          \
    {                                                                                                                  \
        return type{a.x - b.x, a.y - b.y};                                                                             \
    }                                                                                                                  \
    SIM_INLINE type cuCmul##f(type a, type b)                                                                          \
    {                                                                                                                  \
        return type{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                                     \
    }                                                                                                                  \
    SIM_INLINE type cuCdiv##f(type a, type b)                                                                          \
    {                                                                                                                  \
        const real size = b.x * b.x + b.y * b.y;                                                                       \
        return type{(a.x * b.x + a.y * b.y) / size, (a.y * b.x - a.x * b.y) / size};                                   \
    }                                                                                                                  \
    SIM_INLINE real cuCabs##f(type a)                                                                                  \
    {                                                                                                                  \
        return absolute(a.x, a.y);                                                                                     \
    }
SIM_COMPLEX(cuFloatComplex, f, cuFloatComplex, float, hypotf)
SIM_COMPLEX(cuDoubleComplex, , cuDoubleComplex, double, hypot)
#define make_cuComplex make_cuFloatComplex
#endif
#endif
