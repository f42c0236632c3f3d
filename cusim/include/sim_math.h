/* SPDX-License-Identifier: MIT */
/* sim_math.h - mathematics that CUDA has and C has not, a part of cuda_runtime.h. What is less exact on a GPU is exact here. */
#ifndef SIM_MATH_H
#define SIM_MATH_H

/* clang-format off */

/* ---- rounding up (ru), down (rd), toward zero (rz), to the nearest (rn): of s + e, where e is what s lacks ---- */

SIM_INLINE float sim_next(float s, int up) { return nextafterf(s, up > 0 ? INFINITY : -INFINITY); }
SIM_INLINE float sim_round_to(double s, double e, int direction)
{
    const float near = (float)s;
    const double less = s - (double)near;
    const int side = less > 0 || (less == 0 && e > 0) ? 1 : less < 0 || (less == 0 && e < 0) ? -1 : 0;
    const int wanted = direction != 0 ? direction : s > 0 ? -1 : 1;

    return near - near != 0 || side != wanted ? near : sim_next(near, wanted);
}
SIM_INLINE float sim_add_to(float a, float b, int direction)
{
    const double s = (double)a + b, part = s - a;
    return sim_round_to(s, ((double)a - (s - part)) + ((double)b - part), direction);
}
/* The same for a double that was rounded to the nearest, and what is left of the exact result. */
SIM_INLINE double sim_round_double(double s, double rest, int direction)
{
    const double to = direction == 0 ? 0 : direction * INFINITY;
    const bool moves = direction == 0 ? (s > 0 && rest < 0) || (s < 0 && rest > 0) : rest * direction > 0;
    return moves ? nextafter(s, to) : s;
}
#define SIM_ROUNDED(suffix, direction)                                                                                 \
    SIM_INLINE float __fadd_##suffix(float a, float b) { return sim_add_to(a, b, direction); }                         \
    SIM_INLINE float __fsub_##suffix(float a, float b) { return sim_add_to(a, -b, direction); }                        \
    SIM_INLINE float __fmul_##suffix(float a, float b) { return sim_round_to((double)a * b, 0, direction); }           \
    SIM_INLINE float __fdiv_##suffix(float a, float b)                                                                 \
    {                                                                                                                  \
        const double q = (double)a / b;                                                                                \
        return sim_round_to(q, fma(-q, b, a) / b, direction);                                                          \
    }                                                                                                                  \
    SIM_INLINE float __frcp_##suffix(float a) { return __fdiv_##suffix(1, a); }                                        \
    SIM_INLINE float __fsqrt_##suffix(float a)                                                                         \
    {                                                                                                                  \
        const double s = sqrt((double)a);                                                                              \
        return sim_round_to(s, fma(-s, s, a), direction);                                                              \
    }                                                                                                                  \
    SIM_INLINE double __dadd_##suffix(double a, double b)                                                              \
    {                                                                                                                  \
        const double s = a + b, part = s - a;                                                                          \
        return sim_round_double(s, (a - (s - part)) + (b - part), direction);                                          \
    }                                                                                                                  \
    SIM_INLINE double __dsub_##suffix(double a, double b) { return __dadd_##suffix(a, -b); }                           \
    SIM_INLINE double __dmul_##suffix(double a, double b) { return sim_round_double(a * b, fma(a, b, -(a * b)), direction); } \
    SIM_INLINE double __ddiv_##suffix(double a, double b)                                                              \
    {                                                                                                                  \
        const double q = a / b;                                                                                        \
        return sim_round_double(q, fma(-q, b, a) / b, direction);                                                      \
    }                                                                                                                  \
    SIM_INLINE double __drcp_##suffix(double a) { return __ddiv_##suffix(1, a); }                                      \
    SIM_INLINE double __dsqrt_##suffix(double a)                                                                       \
    {                                                                                                                  \
        const double s = sqrt(a);                                                                                      \
        return sim_round_double(s, fma(-s, s, a), direction);                                                          \
    }                                                                                                                  \
    SIM_INLINE float __double2float_##suffix(double a) { return sim_round_to(a, 0, direction); }                       \
    SIM_INLINE float __int2float_##suffix(int a) { return sim_round_to(a, 0, direction); }                             \
    SIM_INLINE float __uint2float_##suffix(unsigned a) { return sim_round_to(a, 0, direction); }
SIM_ROUNDED(rz, 0)
SIM_ROUNDED(ru, 1)
SIM_ROUNDED(rd, -1)

/* A float or double to an integer: what is too large becomes the largest, and NaN 0. */
template <class To, class From>
SIM_INLINE To sim_to_integer(From a)
{
    const To most = (To)~((To)-1 < 0 ? (To)1 << (sizeof(To) * 8 - 1) : (To)0), least = (To)-1 < 0 ? (To)~most : (To)0;
    return a != a ? (To)0 : a >= (From)most ? most : a <= (From)least ? least : (To)a;
}
#define SIM_TO_INTEGER(from, name, to)                                                                                 \
    SIM_INLINE to __##name##_rn(from a) { return sim_to_integer<to>(rint(a)); }                                        \
    SIM_INLINE to __##name##_rz(from a) { return sim_to_integer<to>(trunc(a)); }                                       \
    SIM_INLINE to __##name##_rd(from a) { return sim_to_integer<to>(floor(a)); }                                       \
    SIM_INLINE to __##name##_ru(from a) { return sim_to_integer<to>(ceil(a)); }
SIM_TO_INTEGER(float, float2int, int)
SIM_TO_INTEGER(float, float2uint, unsigned)
SIM_TO_INTEGER(float, float2ll, long long)
SIM_TO_INTEGER(float, float2ull, unsigned long long)
SIM_TO_INTEGER(double, double2int, int)
SIM_TO_INTEGER(double, double2uint, unsigned)
SIM_TO_INTEGER(double, double2ll, long long)
SIM_TO_INTEGER(double, double2ull, unsigned long long)

SIM_INLINE float __int2float_rn(int a) { return (float)a; }
SIM_INLINE float __uint2float_rn(unsigned a) { return (float)a; }
SIM_INLINE float __ll2float_rn(long long a) { return (float)a; }
SIM_INLINE float __ull2float_rn(unsigned long long a) { return (float)a; }
SIM_INLINE double __int2double_rn(int a) { return a; }
SIM_INLINE double __uint2double_rn(unsigned a) { return a; }
SIM_INLINE double __ll2double_rn(long long a) { return (double)a; }
SIM_INLINE double __ull2double_rn(unsigned long long a) { return (double)a; }
SIM_INLINE float __double2float_rn(double a) { return (float)a; }
SIM_INLINE double __dsub_rn(double a, double b) { return a - b; }
SIM_INLINE double __ddiv_rn(double a, double b) { return a / b; }
SIM_INLINE double __dsqrt_rn(double a) { return sqrt(a); }
SIM_INLINE double __drcp_rn(double a) { return 1 / a; }

SIM_INLINE int __double2hiint(double a) { uint64_t bits; memcpy(&bits, &a, 8); return (int)(bits >> 32); }
SIM_INLINE int __double2loint(double a) { uint64_t bits; memcpy(&bits, &a, 8); return (int)(unsigned)bits; }
SIM_INLINE double __hiloint2double(int high, int low)
{
    const uint64_t bits = (uint64_t)(unsigned)high << 32 | (unsigned)low;
    double a;
    memcpy(&a, &bits, 8);
    return a;
}

/* ---- functions ---- */

SIM_INLINE double sinpi(double a) { const double r = fmod(a, 2); return r == 0 || fabs(r) == 1 ? 0 * a : sin(M_PI * r); }
SIM_INLINE double cospi(double a) { const double r = fabs(fmod(a, 2)); return r == 0.5 || r == 1.5 ? 0 : cos(M_PI * r); }
SIM_INLINE float sinpif(float a) { return (float)sinpi(a); }
SIM_INLINE float cospif(float a) { return (float)cospi(a); }
SIM_INLINE void sincospi(double a, double *s, double *c) { *s = sinpi(a); *c = cospi(a); }
SIM_INLINE void sincospif(float a, float *s, float *c) { *s = sinpif(a); *c = cospif(a); }
SIM_INLINE double rcbrt(double a) { return 1 / cbrt(a); }
SIM_INLINE double rhypot(double a, double b) { return 1 / hypot(a, b); }
SIM_INLINE double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
SIM_INLINE double norm4d(double a, double b, double c, double d) { return sqrt(a * a + b * b + c * c + d * d); }
SIM_INLINE double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
SIM_INLINE double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
SIM_INLINE double normcdf(double a) { return erfc(-a * M_SQRT1_2) / 2; }
SIM_INLINE double erfcx(double a) { return a < 25 ? exp(a * a) * erfc(a) : 1 / (a * sqrt(M_PI)) * (1 - 1 / (2 * a * a)); }
SIM_INLINE double sim_normal_quantile(double p) /* by halving: it is seldom asked for */
{
    double low = -40, high = 40;
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? -(double)INFINITY : (double)INFINITY;
    for (int i = 0; i < 200 && low < high; i++) {
        const double middle = (low + high) / 2;
        if (middle == low || middle == high)
            break;
        *(normcdf(middle) < p ? &low : &high) = middle;
    }
    return low;
}
SIM_INLINE double normcdfinv(double p) { return p > 0.5 ? -sim_normal_quantile(1 - p) : sim_normal_quantile(p); }
SIM_INLINE double erfcinv(double a) { return a > 1 ? sim_normal_quantile(1 - a / 2) * M_SQRT1_2 : -sim_normal_quantile(a / 2) * M_SQRT1_2; }
SIM_INLINE double erfinv(double a) { return a < 0 ? -erfcinv(1 + a) : erfcinv(1 - a); }
SIM_INLINE float rcbrtf(float a) { return (float)rcbrt(a); }
SIM_INLINE float rhypotf(float a, float b) { return (float)rhypot(a, b); }
SIM_INLINE float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
SIM_INLINE float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
SIM_INLINE float rnorm3df(float a, float b, float c) { return (float)rnorm3d(a, b, c); }
SIM_INLINE float rnorm4df(float a, float b, float c, float d) { return (float)rnorm4d(a, b, c, d); }
SIM_INLINE float normcdff(float a) { return (float)normcdf(a); }
SIM_INLINE float normcdfinvf(float a) { return (float)normcdfinv(a); }
SIM_INLINE float erfcxf(float a) { return (float)erfcx(a); }
SIM_INLINE float erfinvf(float a) { return (float)erfinv(a); }
SIM_INLINE float erfcinvf(float a) { return (float)erfcinv(a); }
SIM_INLINE float fdividef(float a, float b) { return a / b; }

/* ---- integers ---- */

SIM_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
SIM_INLINE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SIM_INLINE unsigned __sad(int a, int b, unsigned c) { return (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b) + c; }
SIM_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
SIM_INLINE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
SIM_INLINE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
SIM_INLINE unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
SIM_INLINE unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
SIM_INLINE unsigned __byte_perm(unsigned low, unsigned high, unsigned choice)
{
    const unsigned long long bytes = (unsigned long long)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> (choice >> 4 * i & 7) * 8 & 255) << 8 * i;
    return result;
}
SIM_INLINE unsigned long long __brevll(unsigned long long a)
{
    unsigned long long b = 0;
    for (int i = 0; i < 64; i++)
        b |= (a >> i & 1) << (63 - i);
    return b;
}
SIM_INLINE int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
    return c;
}
SIM_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 4; i++)
        c += (a >> 8 * i & 255) * (b >> 8 * i & 255);
    return c;
}
/* clang-format on */

#endif
