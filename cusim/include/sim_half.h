/* SPDX-License-Identifier: MIT */
/* sim_half.h - arithmetic with a type of 16 bits, and with pairs of it, which cuda_fp16.h and cuda_bf16.h call SIM_HALF and
   SIM_HALF2 while they include this: each in float, and rounded as the type's constructor does. Included once by each, so
   it has no guard. */

/* clang-format off */

/* ---- operators ---- */

#define SIM_OPERATION(op)                                                                                              \
    SIM_INLINE SIM_HALF operator op(SIM_HALF a, SIM_HALF b) { return SIM_HALF((float)a op (float)b); }                 \
    SIM_INLINE SIM_HALF &operator op##=(SIM_HALF &a, SIM_HALF b) { return a = a op b; }                                \
    SIM_INLINE SIM_HALF2 operator op(SIM_HALF2 a, SIM_HALF2 b) { return SIM_HALF2{a.x op b.x, a.y op b.y}; }           \
    SIM_INLINE SIM_HALF2 &operator op##=(SIM_HALF2 &a, SIM_HALF2 b) { return a = a op b; }
SIM_OPERATION(+)
SIM_OPERATION(-)
SIM_OPERATION(*)
SIM_OPERATION(/)
#undef SIM_OPERATION
SIM_INLINE SIM_HALF operator-(SIM_HALF a) { return SIM_HALF(-(float)a); }
SIM_INLINE SIM_HALF2 operator-(SIM_HALF2 a) { return SIM_HALF2{-a.x, -a.y}; }
SIM_INLINE SIM_HALF operator+(SIM_HALF a) { return a; }
SIM_INLINE SIM_HALF &operator++(SIM_HALF &a) { return a = SIM_HALF((float)a + 1); }
SIM_INLINE SIM_HALF &operator--(SIM_HALF &a) { return a = SIM_HALF((float)a - 1); }

/* Comparisons: of pairs, 1 or 0 in each place, or (__hb...) whether both hold. */
#define SIM_COMPARISON(op, name)                                                                                       \
    SIM_INLINE bool operator op(SIM_HALF a, SIM_HALF b) { return (float)a op (float)b; }                               \
    SIM_INLINE bool operator op(SIM_HALF2 a, SIM_HALF2 b) { return a.x op b.x && a.y op b.y; }                         \
    SIM_INLINE bool __h##name(SIM_HALF a, SIM_HALF b) { return a op b; }                                               \
    SIM_INLINE SIM_HALF2 __h##name##2(SIM_HALF2 a, SIM_HALF2 b)                                                        \
    { return SIM_HALF2{SIM_HALF(a.x op b.x ? 1.0f : 0.0f), SIM_HALF(a.y op b.y ? 1.0f : 0.0f)}; }                      \
    SIM_INLINE bool __hb##name##2(SIM_HALF2 a, SIM_HALF2 b) { return a op b; }
SIM_COMPARISON(<, lt)
SIM_COMPARISON(>, gt)
SIM_COMPARISON(<=, le)
SIM_COMPARISON(>=, ge)
SIM_COMPARISON(==, eq)
SIM_COMPARISON(!=, ne)
#undef SIM_COMPARISON

/* ---- functions of one, two or three; each also of pairs ---- */

#define SIM_PAIR1(name, pairs) SIM_INLINE SIM_HALF2 pairs(SIM_HALF2 a) { return SIM_HALF2{name(a.x), name(a.y)}; }
#define SIM_PAIR2(name, pairs)                                                                                         \
    SIM_INLINE SIM_HALF2 pairs(SIM_HALF2 a, SIM_HALF2 b) { return SIM_HALF2{name(a.x, b.x), name(a.y, b.y)}; }
#define SIM_PAIR3(name, pairs)                                                                                         \
    SIM_INLINE SIM_HALF2 pairs(SIM_HALF2 a, SIM_HALF2 b, SIM_HALF2 c)                                                  \
    { return SIM_HALF2{name(a.x, b.x, c.x), name(a.y, b.y, c.y)}; }

SIM_INLINE SIM_HALF __hadd(SIM_HALF a, SIM_HALF b) { return a + b; }
SIM_INLINE SIM_HALF __hsub(SIM_HALF a, SIM_HALF b) { return a - b; }
SIM_INLINE SIM_HALF __hmul(SIM_HALF a, SIM_HALF b) { return a * b; }
SIM_INLINE SIM_HALF __hdiv(SIM_HALF a, SIM_HALF b) { return a / b; }
SIM_INLINE SIM_HALF __hneg(SIM_HALF a) { return -a; }
SIM_INLINE SIM_HALF __habs(SIM_HALF a) { return SIM_HALF(fabsf((float)a)); }
SIM_INLINE SIM_HALF __hfma(SIM_HALF a, SIM_HALF b, SIM_HALF c) { return SIM_HALF((float)((double)(float)a * (float)b + (float)c)); }
SIM_INLINE SIM_HALF __hmax(SIM_HALF a, SIM_HALF b) { return SIM_HALF(fmaxf((float)a, (float)b)); }
SIM_INLINE SIM_HALF __hmin(SIM_HALF a, SIM_HALF b) { return SIM_HALF(fminf((float)a, (float)b)); }
SIM_INLINE SIM_HALF __hadd_sat(SIM_HALF a, SIM_HALF b) { return SIM_HALF(__saturatef((float)a + (float)b)); }
SIM_INLINE SIM_HALF __hmul_sat(SIM_HALF a, SIM_HALF b) { return SIM_HALF(__saturatef((float)a * (float)b)); }
SIM_INLINE SIM_HALF __hfma_relu(SIM_HALF a, SIM_HALF b, SIM_HALF c) { return __hmax(__hfma(a, b, c), SIM_HALF(0.0f)); }
SIM_INLINE bool __hisnan(SIM_HALF a) { return (float)a != (float)a; }
SIM_INLINE int __hisinf(SIM_HALF a) { return isinf((float)a) ? (float)a < 0 ? -1 : 1 : 0; }
SIM_PAIR2(__hadd, __hadd2)
SIM_PAIR2(__hsub, __hsub2)
SIM_PAIR2(__hmul, __hmul2)
SIM_PAIR2(__hdiv, __h2div)
SIM_PAIR1(__hneg, __hneg2)
SIM_PAIR1(__habs, __habs2)
SIM_PAIR3(__hfma, __hfma2)
SIM_PAIR2(__hmax, __hmax2)
SIM_PAIR2(__hmin, __hmin2)

#define SIM_FUNCTION(name, result)                                                                                     \
    SIM_INLINE SIM_HALF h##name(SIM_HALF half) { const float a = (float)half; return SIM_HALF(result); }               \
    SIM_PAIR1(h##name, h2##name)
SIM_FUNCTION(exp, expf(a))
SIM_FUNCTION(exp2, exp2f(a))
SIM_FUNCTION(exp10, exp10f(a))
SIM_FUNCTION(log, logf(a))
SIM_FUNCTION(log2, log2f(a))
SIM_FUNCTION(log10, log10f(a))
SIM_FUNCTION(sqrt, sqrtf(a))
SIM_FUNCTION(rsqrt, 1 / sqrtf(a))
SIM_FUNCTION(rcp, 1 / a)
SIM_FUNCTION(sin, sinf(a))
SIM_FUNCTION(cos, cosf(a))
SIM_FUNCTION(tanh, tanhf(a))
SIM_FUNCTION(floor, floorf(a))
SIM_FUNCTION(ceil, ceilf(a))
SIM_FUNCTION(trunc, truncf(a))
SIM_FUNCTION(rint, rintf(a))
#undef SIM_FUNCTION
#undef SIM_PAIR1
#undef SIM_PAIR2
#undef SIM_PAIR3

/* ---- the halves of a pair ---- */

SIM_INLINE float __low2float(SIM_HALF2 a) { return (float)a.x; }
SIM_INLINE float __high2float(SIM_HALF2 a) { return (float)a.y; }

/* ---- atomics: the old value; each half of a pair is an atomic of its own on a GPU ---- */

SIM_ATOMIC_COUNT(atomicAdd, SIM_HALF, old + value)
SIM_ATOMIC_COUNT(atomicAdd, SIM_HALF2, old + value)
/* clang-format on */
