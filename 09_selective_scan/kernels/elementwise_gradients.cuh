/* SPDX-License-Identifier: MIT */
/* elementwise_gradients.cuh - the rest of a step of a channel in fused_backward.cu, state_passing_backward.cu and
   checkpoints_backward.cu, once the sums over its states are there: the gradients of the gate, of u and of delta. A
   lane has its own steps of its first channel, from `mine` on. */
#ifndef ELEMENTWISE_GRADIENTS_CUH
#define ELEMENTWISE_GRADIENTS_CUH

#include "gradient_stage.cuh"
#include "gradient_sums.cuh"
#include "own_steps.cuh"

#define LN_2 0.69314718f

/* d_y = d_out silu(z) takes the place of d_out in the stage, and d_out silu'(z), which is d_z but for y, that of z. */
template <int lanes>
static __device__ __forceinline__ void gate(float *stage, int row, int mine)
{
    enum { own = OWN_STEPS(lanes) };
    float d_out[own], z[own];
    get<STEPS, own>(stage + D_OUT_AT(lanes), row, mine, d_out);
    get<STEPS, own>(stage + Z_AT(lanes), row, mine, z);
#pragma unroll
    for (int i = 0; i < own; i++) {
        const float gated = d_out[i] * silu(z[i]);
        z[i] = d_out[i] * silu_slope(z[i]);
        d_out[i] = gated;
    }
    put<STEPS, own>(stage + D_OUT_AT(lanes), row, mine, d_out);
    put<STEPS, own>(stage + Z_AT(lanes), row, mine, z);
}

/* y, as walk_forward leaves it, becomes d_z, for which d_z brings d_out silu'(z). */
template <int lanes>
static __device__ __forceinline__ void finish_z(const float *u, const float *d_z, int part, float D, float y[STEPS])
{
    fold_states<lanes>(y, part);
#pragma unroll
    for (int i = 0; i < OWN_STEPS(lanes); i++)
        y[i] = d_z[i] * (y[i] + D * u[i]);
}

/* d_input becomes d_u and d_step d_delta. Adds to so_far what the `left` steps are in d_D and d_bias. */
template <int lanes>
static __device__ __forceinline__ void finish_own(const struct selective_args *args, const float *u, const float *delta,
                                                  const float *step, const float *d_y, float bias, float D, int left,
                                                  float *d_input, float *d_step, float *so_far)
{
    float d_D = 0.0f, d_bias = 0.0f;
#pragma unroll
    for (int i = 0; i < OWN_STEPS(lanes); i++) {
        /* x - x is 0, or NaN for an infinite x, which stood in a sum over the states with either sign. */
        d_step[i] = d_step[i] * LN_2 + (d_input[i] * u[i] + (u[i] - u[i]));
        d_input[i] = d_input[i] * step[i] + (D * d_y[i] + (step[i] - step[i]));
        if (args->delta_softplus)
            d_step[i] *= sigmoid(delta[i] + bias);
        d_D += d_y[i] * u[i];
        if (i < left)
            d_bias += d_step[i];
    }
    so_far[0] += d_D, so_far[1] += d_bias;
}

/* To global memory, from step `at` on of a row; `whole`: all of them are in the sequence, and aligned. */
template <typename dtype, int lanes>
static __device__ __forceinline__ void store_own(const struct selective_args *args, int row, int at, bool whole,
                                                 const float *d_u, const float *d_delta, const float *d_z)
{
    enum { own = OWN_STEPS(lanes) };
    const size_t to = (size_t)(unsigned)row * (unsigned)args->seq_len + at;
    const int left = (int)args->seq_len - at;
    store<dtype, own>((dtype *)args->d_u + to, left, whole, d_u);
    store<dtype, own>((dtype *)args->d_delta + to, left, whole, d_delta);
    if (args->z != NULL)
        store<dtype, own>((dtype *)args->d_z + to, left, whole, d_z);
}

#endif
