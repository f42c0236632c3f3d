/* SPDX-License-Identifier: MIT */
/* steps_backward.cu - the gradients of steps.cu, plain and deterministic.

   A warp takes 32 channels of one group and batch, a thread a channel, a launch `elems` states. The gradient of h[l]
   comes from the steps after it, and it needs h[l-1], which comes from the steps before:

       1. forward      h -> -> -> -> -> -> -> -> ->      saved at the start of each chunk of CHUNK steps
       2. forward                         -> -> ->       the last chunk once more from there, saved before each step
       3. backward                        <- <- <-       its gradients; then 2. and 3. for the chunk before, and so on

   With a[l] = exp(step[l] A), g[l] the gradient of h[l] and d_y = d_out silu(z):

       g[l] = d_y[l] C[l] + a[l+1] g[l+1]        d_A    += g a[l] h[l-1] step            d_B += g step u
       d_u    = g step B  + d_y D                d_step  = g (A a[l] h[l-1] + B u)       d_C += d_y h[l]

   B and C belong to all channels of a group: a warp adds up its 32 by shuffles and leaves one partial sum (add_up.cu).
   Sums over time are those of chunks, added up: rounding errors stay small. A lane beyond the group's last channel
   walks that one, adds 0 and writes nothing. */
/* The simulator builds it quickly: states in registers, in unrolled loops, each for three types. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "activations.cuh"
#include "grid.h"
#include "selective_check.h"
#include "sequence.cuh"
#include "workspace.h"

/* The sum over the lanes of a warp, in every lane. */
static __device__ __forceinline__ float warp_sum(float value)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFu, value, d);
    return value;
}

/* Takes h through steps [begin, end), and saves it before each `every`th of them. */
template <typename dtype, int elems>
static __device__ __forceinline__ void walk(const struct selective_args *args, const dtype *u, const dtype *delta,
                                            float bias, const float *A, const dtype *B, int count, size_t begin,
                                            size_t end, size_t every, float *saved, float *h)
{
    for (size_t l = begin; l < end; l++) {
        const float step = step_of((float)delta[l] + bias, args->delta_softplus);
#pragma unroll
        for (int n = 0; n < elems; n++)
            if (n < count) {
                if ((l - begin) % every == 0)
                    saved[((l - begin) / every * elems + n) * 32] = h[n];
                h[n] = fast_exp2(step * (A[n] * LOG2_E)) * h[n] + step * (float)u[l] * (float)B[n * args->seq_len + l];
            }
    }
}

/* States [first, first + elems). parts.rest holds the saved states, (warps of a batch, all chunks of all batches or
   packed sequences, elems, 32), and those of a chunk, (warps, STEPS_CHUNK, elems, 32); behind them, from launch to
   launch, y, d_u and d_step of the states before. */
template <typename dtype, int elems>
static __global__ void steps_backward(struct selective_args args, struct selective_parts parts, size_t all_chunks,
                                      size_t first)
{
    const size_t seq_len = args.seq_len, states = args.states;
    const size_t warp = blockIdx.x, lane = threadIdx.x, batch_group = warp / parts.per_group;
    const size_t batch = batch_group / args.groups, group = batch_group % args.groups; /* or packed sequence */
    const struct sequence sequence = sequence_of(&args, batch);
    const size_t chunks = (sequence.length + STEPS_CHUNK - 1) / STEPS_CHUNK;
    const size_t first_chunk = args.starts != NULL ? sequence.begin / STEPS_CHUNK + batch : batch * chunks;
    const size_t per_group = args.channels / args.groups, own = warp % parts.per_group * 32 + lane;
    const bool active = own < per_group, is_last = first + elems >= states;
    const size_t channel = group * per_group + (active ? own : per_group - 1);
    const size_t both = batch * args.channels + channel, state = both * states + first;
    const size_t row = (sequence.batch * args.channels + channel) * seq_len + sequence.begin;
    const size_t of_batch = warp % (args.groups * parts.per_group); /* which warp of its batch */
    const size_t part_row = sequence.batch * args.groups * parts.per_group + of_batch;
    const size_t part = (part_row * states + first) * seq_len + sequence.begin;
    const size_t group_row = ((sequence.batch * args.groups + group) * states + first) * seq_len + sequence.begin;
    const int count = is_last ? (int)(states - first) : elems;
    const dtype *const u = (const dtype *)args.u + row, *const delta = (const dtype *)args.delta + row;
    const dtype *const B = (const dtype *)args.B + group_row, *const C = (const dtype *)args.C + group_row;
    const dtype *const d_out = (const dtype *)args.d_out + row;
    const dtype *const z = args.z != NULL ? (const dtype *)args.z + row : NULL;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = args.D != NULL ? args.D[channel] : 0.0f;
    const size_t all_saved = args.groups * parts.per_group * all_chunks;
    float *const saved = parts.rest + (of_batch * all_chunks + first_chunk) * elems * 32 + lane;
    float *const history = parts.rest + (all_saved + warp * STEPS_CHUNK) * elems * 32 + lane;
    float *const so_far = parts.rest + (all_saved + gridDim.x * STEPS_CHUNK) * elems * 32 + 3 * row;
    float h[elems], A[elems], carry[elems], d_A[elems], d_D = 0.0f, d_bias = 0.0f; /* carry: a[l+1] g[l+1] */
#pragma unroll
    for (int n = 0; n < elems; n++) {
        A[n] = n < count ? args.A[channel * states + first + n] : 0.0f;
        h[n] = n < count && args.initial_state != NULL ? args.initial_state[state + n] : 0.0f;
        carry[n] = n < count && args.d_final_state != NULL ? args.d_final_state[state + n] : 0.0f;
        d_A[n] = 0.0f;
    }
    walk<dtype, elems>(&args, u, delta, bias, A, B, count, 0, sequence.length, STEPS_CHUNK, saved, h); /* 1. */
    for (size_t chunk = chunks; chunk-- > 0;) {
        const size_t begin = chunk * STEPS_CHUNK, end = min(begin + STEPS_CHUNK, sequence.length);
        float chunk_A[elems], chunk_D = 0.0f, chunk_bias = 0.0f;
#pragma unroll
        for (int n = 0; n < elems; n++)
            h[n] = n < count ? saved[(chunk * elems + n) * 32] : 0.0f, chunk_A[n] = 0.0f;
        walk<dtype, elems>(&args, u, delta, bias, A, B, count, begin, end, 1, history, h); /* 2. */
        for (size_t l = end; l-- > begin;) {                                               /* 3. */
            const float v = (float)delta[l] + bias, step = step_of(v, args.delta_softplus);
            const float u_l = (float)u[l], d_y = z != NULL ? (float)d_out[l] * silu((float)z[l]) : (float)d_out[l];
            float y = D * u_l, d_input = D * d_y, d_step = 0.0f;
            /* [gradients] All gradients of a step. */
            if (first > 0 && active)
                y = so_far[3 * l], d_input = so_far[3 * l + 1], d_step = so_far[3 * l + 2];
#pragma unroll
            for (int n = 0; n < elems; n++)
                if (n < count) {
                    const float a = fast_exp2(step * (A[n] * LOG2_E)), b = (float)B[n * seq_len + l];
                    const float c = (float)C[n * seq_len + l], g = d_y * c + carry[n];
                    const float kept = a * history[((l - begin) * elems + n) * 32], now = kept + step * u_l * b;
                    const float d_B = warp_sum(active ? g * step * u_l : 0.0f);
                    const float d_C = warp_sum(active ? d_y * now : 0.0f);
                    if (lane == 0)
                        parts.d_B[part + n * seq_len + l] = d_B, parts.d_C[part + n * seq_len + l] = d_C;
                    y += c * now, d_input += g * step * b;
                    d_step += g * (A[n] * kept + b * u_l);
                    chunk_A[n] += g * kept * step;
                    carry[n] = a * g;
                }
            /* [store] What is complete. */
            if (active && !is_last)
                so_far[3 * l] = y, so_far[3 * l + 1] = d_input, so_far[3 * l + 2] = d_step;
            if (is_last && args.delta_softplus)
                d_step *= sigmoid(v); /* now it is that of delta */
            chunk_D += d_y * u_l, chunk_bias += d_step;
            if (active && is_last) {
                ((dtype *)args.d_u)[row + l] = (dtype)d_input, ((dtype *)args.d_delta)[row + l] = (dtype)d_step;
                if (z != NULL)
                    ((dtype *)args.d_z)[row + l] = (dtype)((float)d_out[l] * y * silu_slope((float)z[l]));
            }
        }
#pragma unroll
        for (int n = 0; n < elems; n++)
            d_A[n] += chunk_A[n];
        d_D += chunk_D, d_bias += chunk_bias;
    }
    if (!active)
        return;
#pragma unroll
    for (int n = 0; n < elems; n++)
        if (n < count) {
            parts.d_A[state + n] = d_A[n];
            if (args.d_initial_state != NULL)
                args.d_initial_state[state + n] = carry[n];
        }
    parts.d_D[both] = d_D, parts.d_bias[both] = d_bias; /* those of the last launch stay */
}

extern "C" cudaError_t selective_steps_backward(const struct selective_args *given, cudaStream_t stream)
{
    const struct selective_args sequences = selective_sequences(given), *const args = &sequences;
    cudaError_t error = selective_check_packed(given, true, selective_steps_workspace(given, true));
    if (error != cudaSuccess)
        return error;
    if (selective_is_empty(given))
        return selective_finish_empty(given, true, stream);
    const struct selective_parts parts = selective_parts_of(args, selective_warps(args), 1);
    const size_t blocks = args->batch * args->groups * parts.per_group;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    void (*const kernel)(struct selective_args, struct selective_parts, size_t, size_t) =
        args->dtype == BF16   ? steps_backward<__nv_bfloat16, STEPS_ELEMS>
        : args->dtype == FP16 ? steps_backward<__half, STEPS_ELEMS>
                              : steps_backward<float, STEPS_ELEMS>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 32, 0, stream);
    for (size_t first = 0; first < args->states && error == cudaSuccess; first += STEPS_ELEMS)
        error = cudaLaunchKernelEx(&launch, kernel, *args, parts, selective_steps_chunks(args), first);
    return error != cudaSuccess ? error : selective_add_up(args, &parts, stream);
}
