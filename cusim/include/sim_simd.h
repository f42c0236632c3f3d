/* SPDX-License-Identifier: MIT */
/* sim_simd.h - functions of two halves or four bytes of a word at once (__vadd2, __vadd4 ...), and of maxima with sums
   (__viaddmax_s32 ...), a part of cuda_runtime.h. */
#ifndef SIM_SIMD_H
#define SIM_SIMD_H

/* clang-format off */

/* f of each part of a and b, which are of type T; cut off to the part. */
template <class T, class F>
SIM_INLINE unsigned sim_each(unsigned a, unsigned b, F f)
{
    const unsigned bits = sizeof(T) * 8, mask = (1u << bits) - 1;
    unsigned result = 0;
    for (unsigned i = 0; i < 32; i += bits)
        result |= ((unsigned)f((int)(T)(a >> i), (int)(T)(b >> i)) & mask) << i;
    return result;
}
template <class T>
SIM_INLINE int sim_saturated(int a)
{
    const int least = (T)-1 < 0 ? -(1 << (sizeof(T) * 8 - 1)) : 0, most = least + (1 << sizeof(T) * 8) - 1;
    return a < least ? least : a > most ? most : a;
}

#define SIM_EACH(name, type, result)                                                                                   \
    SIM_INLINE unsigned name(unsigned a, unsigned b)                                                                   \
    { typedef type T; return sim_each<T>(a, b, [](int a, int b) { (void)sizeof(T); return (int)(result); }); }
#define SIM_EACH_S(name, result) SIM_EACH(name##2, short, result) SIM_EACH(name##4, signed char, result)
#define SIM_EACH_U(name, result) SIM_EACH(name##2, unsigned short, result) SIM_EACH(name##4, unsigned char, result)
SIM_EACH_U(__vadd, a + b)
SIM_EACH_S(__vaddss, sim_saturated<T>(a + b))
SIM_EACH_U(__vaddus, sim_saturated<T>(a + b))
SIM_EACH_U(__vsub, a - b)
SIM_EACH_S(__vsubss, sim_saturated<T>(a - b))
SIM_EACH_U(__vsubus, sim_saturated<T>(a - b))
SIM_EACH_S(__vabsdiffs, a < b ? b - a : a - b)
SIM_EACH_U(__vabsdiffu, a < b ? b - a : a - b)
SIM_EACH_S(__vavgs, (a + b + (a + b >= 0)) >> 1)
SIM_EACH_U(__vavgu, (a + b + 1) >> 1)
SIM_EACH_U(__vhaddu, (a + b) >> 1)
SIM_EACH_S(__vmaxs, a > b ? a : b)
SIM_EACH_U(__vmaxu, a > b ? a : b)
SIM_EACH_S(__vmins, a < b ? a : b)
SIM_EACH_U(__vminu, a < b ? a : b)
#define SIM_EACH_COMPARED(name, op, S) /* all bits or none; 1 or 0 */                                                  \
    SIM_EACH_##S(__vcmp##name, a op b ? -1 : 0)                                                                        \
    SIM_EACH_##S(__vset##name, a op b)
SIM_EACH_COMPARED(eq, ==, U)
SIM_EACH_COMPARED(ne, !=, U)
SIM_EACH_COMPARED(ges, >=, S)
SIM_EACH_COMPARED(geu, >=, U)
SIM_EACH_COMPARED(gts, >, S)
SIM_EACH_COMPARED(gtu, >, U)
SIM_EACH_COMPARED(les, <=, S)
SIM_EACH_COMPARED(leu, <=, U)
SIM_EACH_COMPARED(lts, <, S)
SIM_EACH_COMPARED(ltu, <, U)
#define SIM_EACH_ALONE(name, result)                                                                                   \
    SIM_INLINE unsigned name##2(unsigned a) { typedef short T; return sim_each<T>(a, 0, [](int a, int) { (void)sizeof(T); return (int)(result); }); } \
    SIM_INLINE unsigned name##4(unsigned a) { typedef signed char T; return sim_each<T>(a, 0, [](int a, int) { (void)sizeof(T); return (int)(result); }); }
SIM_EACH_ALONE(__vabs, a < 0 ? -a : a)
SIM_EACH_ALONE(__vabsss, sim_saturated<T>(a < 0 ? -a : a))
SIM_EACH_ALONE(__vneg, -a)
SIM_EACH_ALONE(__vnegss, sim_saturated<T>(-a))

/* the sum of what the parts differ by */
SIM_INLINE unsigned __vsadu2(unsigned a, unsigned b) { const unsigned d = __vabsdiffu2(a, b); return (d & 0xffff) + (d >> 16); }
SIM_INLINE unsigned __vsads2(unsigned a, unsigned b) { const unsigned d = __vabsdiffs2(a, b); return (d & 0xffff) + (d >> 16); }
SIM_INLINE unsigned sim_sum4(unsigned d) { return (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24); }
SIM_INLINE unsigned __vsadu4(unsigned a, unsigned b) { return sim_sum4(__vabsdiffu4(a, b)); }
SIM_INLINE unsigned __vsads4(unsigned a, unsigned b) { return sim_sum4(__vabsdiffs4(a, b)); }

/* ---- maxima and minima with sums, and not below 0 (relu) ---- */

#define SIM_EXTREMES(s, T, V, least, greatest, sum)                                                                    \
    SIM_INLINE V __vimax3_##s(V a, V b, V c) { return greatest(greatest(a, b), c); }                                   \
    SIM_INLINE V __vimin3_##s(V a, V b, V c) { return least(least(a, b), c); }                                         \
    SIM_INLINE V __viaddmax_##s(V a, V b, V c) { return greatest(sum(a, b), c); }                                      \
    SIM_INLINE V __viaddmin_##s(V a, V b, V c) { return least(sum(a, b), c); }
#define SIM_EXTREMES_RELU(s, V, least, greatest)                                                                       \
    SIM_INLINE V __vimax_##s##_relu(V a, V b) { return greatest(greatest(a, b), 0); }                                  \
    SIM_INLINE V __vimin_##s##_relu(V a, V b) { return greatest(least(a, b), 0); }                                     \
    SIM_INLINE V __vimax3_##s##_relu(V a, V b, V c) { return greatest(__vimax3_##s(a, b, c), 0); }                     \
    SIM_INLINE V __vimin3_##s##_relu(V a, V b, V c) { return greatest(__vimin3_##s(a, b, c), 0); }                     \
    SIM_INLINE V __viaddmax_##s##_relu(V a, V b, V c) { return greatest(__viaddmax_##s(a, b, c), 0); }                 \
    SIM_INLINE V __viaddmin_##s##_relu(V a, V b, V c) { return greatest(__viaddmin_##s(a, b, c), 0); }
SIM_INLINE int sim_sum_s32(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
SIM_INLINE unsigned sim_sum_u32(unsigned a, unsigned b) { return a + b; }
SIM_EXTREMES(s32, int, int, min, max, sim_sum_s32)
SIM_EXTREMES(u32, unsigned, unsigned, umin, umax, sim_sum_u32)
SIM_EXTREMES(s16x2, short, unsigned, __vmins2, __vmaxs2, __vadd2)
SIM_EXTREMES(u16x2, unsigned short, unsigned, __vminu2, __vmaxu2, __vadd2)
SIM_EXTREMES_RELU(s32, int, min, max)
SIM_EXTREMES_RELU(s16x2, unsigned, __vmins2, __vmaxs2)
SIM_INLINE int __vibmax_s32(int a, int b, bool *first) { *first = a >= b; return a >= b ? a : b; }
SIM_INLINE int __vibmin_s32(int a, int b, bool *first) { *first = a <= b; return a <= b ? a : b; }
SIM_INLINE unsigned __vibmax_u32(unsigned a, unsigned b, bool *first) { *first = a >= b; return a >= b ? a : b; }
SIM_INLINE unsigned __vibmin_u32(unsigned a, unsigned b, bool *first) { *first = a <= b; return a <= b ? a : b; }
#define SIM_EXTREME_PAIRS(s)                                                                                           \
    SIM_INLINE unsigned __vibmax_##s##16x2(unsigned a, unsigned b, bool *high, bool *low)                              \
    { const unsigned first = __vsetge##s##2(a, b); *high = first >> 16; *low = first & 1; return __vmax##s##2(a, b); } \
    SIM_INLINE unsigned __vibmin_##s##16x2(unsigned a, unsigned b, bool *high, bool *low)                              \
    { const unsigned first = __vsetle##s##2(a, b); *high = first >> 16; *low = first & 1; return __vmin##s##2(a, b); }
SIM_EXTREME_PAIRS(s)
SIM_EXTREME_PAIRS(u)

/* clang-format on */

#endif
