/* SPDX-License-Identifier: MIT */
/* curand_kernel.h - random numbers in kernels. Each state is a counter, hashed (the finalizer of splitmix64: Steele, Lea,
   Flood 2014): other numbers than cuRAND's, as good for a sample, and the same in each order of execution. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "curand.h"

struct sim_curand_state {
    unsigned long long key, at;
};
struct curandStateXORWOW : sim_curand_state {
};
struct curandStateMRG32k3a : sim_curand_state {
};
struct curandStatePhilox4_32_10 : sim_curand_state {
};
struct curandStateSobol32 : sim_curand_state {
};
struct curandStateSobol64 : sim_curand_state {
};
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateSobol64 curandStateSobol64_t;
typedef struct curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

SIM_INLINE unsigned long long sim_curand_mix(unsigned long long z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}
SIM_INLINE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                            sim_curand_state *state)
{
    state->key = sim_curand_mix(sim_curand_mix(seed + 0x9E3779B97F4A7C15ull) + sequence);
    state->at = offset;
}
SIM_INLINE void curand_init(const unsigned *, unsigned, curandStateSobol32 *)
{
    sim_no_stand_in("curand_init of a quasirandom generator");
}
SIM_INLINE void curand_init(const unsigned long long *, unsigned, curandStateSobol64 *)
{
    sim_no_stand_in("curand_init of a quasirandom generator");
}
SIM_INLINE unsigned curand(sim_curand_state *state)
{
    return (unsigned)(sim_curand_mix(state->key + 0xD1B54A32D192ED03ull * ++state->at) >> 32);
}
/* in (0, 1] */
SIM_INLINE float curand_uniform(sim_curand_state *state)
{
    return ((float)(curand(state) >> 8) + 1) * 0x1p-24f;
}
SIM_INLINE double curand_uniform_double(sim_curand_state *state)
{
    return ((double)curand(state) + 1) * 0x1p-32;
}
/* Box and Muller (1958) */
SIM_INLINE float2 curand_normal2(sim_curand_state *state)
{
    const float size = sqrtf(-2 * logf(curand_uniform(state))), angle = 6.2831853f * curand_uniform(state);
    return float2{size * sinf(angle), size * cosf(angle)};
}
SIM_INLINE float curand_normal(sim_curand_state *state)
{
    return curand_normal2(state).x;
}
SIM_INLINE double curand_normal_double(sim_curand_state *state)
{
    return sqrt(-2 * log(curand_uniform_double(state))) * sin(6.283185307179586 * curand_uniform_double(state));
}
SIM_INLINE float curand_log_normal(sim_curand_state *state, float mean, float stddev)
{
    return expf(mean + stddev * curand_normal(state));
}
SIM_INLINE uint4 curand4(sim_curand_state *state)
{
    const unsigned a = curand(state), b = curand(state), c = curand(state), d = curand(state);
    return uint4{a, b, c, d};
}
SIM_INLINE float4 curand_uniform4(sim_curand_state *state)
{
    const float a = curand_uniform(state), b = curand_uniform(state), c = curand_uniform(state),
                d = curand_uniform(state);
    return float4{a, b, c, d};
}
SIM_INLINE float4 curand_normal4(sim_curand_state *state)
{
    const float2 a = curand_normal2(state), b = curand_normal2(state);
    return float4{a.x, a.y, b.x, b.y};
}
SIM_INLINE void skipahead(unsigned long long n, sim_curand_state *state)
{
    state->at += n;
}

#endif
