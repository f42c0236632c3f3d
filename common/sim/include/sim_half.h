/* SPDX-License-Identifier: MIT */
/* sim_half.h - the operators of a type of 16 bits, which cuda_fp16.h and cuda_bf16.h call SIM_HALF while they include
   this: each in float, and rounded as the type's constructor does. Included once by each, so it has no guard. */

/* clang-format off */
SIM_INLINE SIM_HALF operator+(SIM_HALF a, SIM_HALF b) { return SIM_HALF((float)a + (float)b); }
SIM_INLINE SIM_HALF operator-(SIM_HALF a, SIM_HALF b) { return SIM_HALF((float)a - (float)b); }
SIM_INLINE SIM_HALF operator*(SIM_HALF a, SIM_HALF b) { return SIM_HALF((float)a * (float)b); }
SIM_INLINE SIM_HALF operator/(SIM_HALF a, SIM_HALF b) { return SIM_HALF((float)a / (float)b); }
SIM_INLINE SIM_HALF operator-(SIM_HALF a) { return SIM_HALF(-(float)a); }
SIM_INLINE bool operator<(SIM_HALF a, SIM_HALF b) { return (float)a < (float)b; }
SIM_INLINE bool operator>(SIM_HALF a, SIM_HALF b) { return (float)a > (float)b; }
SIM_INLINE bool operator<=(SIM_HALF a, SIM_HALF b) { return (float)a <= (float)b; }
SIM_INLINE bool operator>=(SIM_HALF a, SIM_HALF b) { return (float)a >= (float)b; }
SIM_INLINE bool operator==(SIM_HALF a, SIM_HALF b) { return (float)a == (float)b; }
SIM_INLINE bool operator!=(SIM_HALF a, SIM_HALF b) { return (float)a != (float)b; }
SIM_INLINE SIM_HALF __hadd(SIM_HALF a, SIM_HALF b) { return a + b; }
SIM_INLINE SIM_HALF __hsub(SIM_HALF a, SIM_HALF b) { return a - b; }
SIM_INLINE SIM_HALF __hmul(SIM_HALF a, SIM_HALF b) { return a * b; }
SIM_INLINE SIM_HALF __hdiv(SIM_HALF a, SIM_HALF b) { return a / b; }
SIM_INLINE SIM_HALF __hneg(SIM_HALF a) { return -a; }
SIM_INLINE SIM_HALF __hfma(SIM_HALF a, SIM_HALF b, SIM_HALF c) { return SIM_HALF((float)((double)(float)a * (float)b + (float)c)); }
SIM_INLINE bool __hisnan(SIM_HALF a) { return (float)a != (float)a; }
/* clang-format on */
