/* steps_backward.cu - the gradients of steps.cu, plain and deterministic.

   A warp takes 32 channels of one group and batch, a thread a channel, a launch `elems` states. The gradient of h[l] comes
   from the steps after it, and it needs h[l-1], which comes from the steps before:

       1. forward      h -> -> -> -> -> -> -> -> ->      saved at the start of each chunk of CHUNK steps
       2. forward                         -> -> ->       the last chunk once more from there, saved before each step
       3. backward                        <- <- <-       its gradients; then 2. and 3. for the chunk before it, and so on

   With a[l] = exp(step[l] A), g[l] the gradient of h[l] and d_y = d_out silu(z):

       g[l] = d_y[l] C[l] + a[l+1] g[l+1]        d_A    += g a[l] h[l-1] step            d_B += g step u
       d_u    = g step B  + d_y D                d_step  = g (A a[l] h[l-1] + B u)       d_C += d_y h[l]

   B and C belong to all channels of a group: a warp adds up its 32 by shuffles and leaves one partial sum (add_up.cu).
   Sums over time are those of chunks, added up, so that rounding errors stay small. A lane without a channel of its own
   walks the group's last one, adds 0 and writes nothing. */
#include <cuda_runtime.h>

#include "selective.cuh"
#include "selective_scan.h"

#define CHUNK STEPS_CHUNK

/* Takes h through steps [begin, end), and saves it before each `every`th of them. */
template <int elems>
static __device__ __forceinline__ void walk(const struct selective_args *args, const float *u, const float *delta,
                                            float bias, const float *A, const float *B, int count, size_t begin,
                                            size_t end, size_t every, float *saved, float *h)
{
    for (size_t l = begin; l < end; l++) {
        const float step = step_of(delta[l] + bias, args->delta_softplus);
#pragma unroll
        for (int n = 0; n < elems; n++)
            if (n < count) {
                if ((l - begin) % every == 0)
                    saved[((l - begin) / every * elems + n) * 32] = h[n];
                h[n] = fast_exp2(step * (A[n] * LOG2_E)) * h[n] + step * u[l] * B[n * args->seq_len + l];
            }
    }
}

/* States [first, first + elems). parts.rest holds the saved states, (warps, chunks, elems, 32), and those of a chunk,
   (warps, CHUNK, elems, 32). Between launches d_z holds y, and d_delta the gradient of the step. */
template <int elems>
static __global__ void steps_backward(struct selective_args args, struct selective_parts parts, size_t first)
{
    const size_t seq_len = args.seq_len, states = args.states, chunks = (seq_len - 1) / CHUNK + 1;
    const size_t warp = blockIdx.x, lane = threadIdx.x, batch_group = warp / parts.per_group;
    const size_t batch = batch_group / args.groups, group = batch_group % args.groups;
    const size_t per_group = args.channels / args.groups, own = warp % parts.per_group * 32 + lane;
    const bool active = own < per_group, is_last = first + elems >= states;
    const size_t channel = group * per_group + (active ? own : per_group - 1);
    const size_t both = batch * args.channels + channel, row = both * seq_len, state = both * states + first;
    const size_t part = (warp * states + first) * seq_len, group_row = (batch_group * states + first) * seq_len;
    const int count = is_last ? (int)(states - first) : elems;
    const float *const u = (const float *)args.u + row, *const delta = (const float *)args.delta + row;
    const float *const B = (const float *)args.B + group_row, *const C = (const float *)args.C + group_row;
    const float *const d_out = (const float *)args.d_out + row;
    const float *const z = args.z != NULL ? (const float *)args.z + row : NULL;
    float *const d_u = (float *)args.d_u + row, *const d_delta = (float *)args.d_delta + row;
    float *const d_z = z != NULL ? (float *)args.d_z + row : NULL;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = args.D != NULL ? args.D[channel] : 0.0f;
    float *const saved = parts.rest + warp * chunks * elems * 32 + lane;
    float *const history = parts.rest + (gridDim.x * chunks + warp * CHUNK) * elems * 32 + lane;
    float h[elems], A[elems], carry[elems], d_A[elems], d_D = 0.0f, d_bias = 0.0f; /* carry: a[l+1] g[l+1] */
#pragma unroll
    for (int n = 0; n < elems; n++) {
        A[n] = n < count ? args.A[channel * states + first + n] : 0.0f;
        h[n] = n < count && args.initial_state != NULL ? args.initial_state[state + n] : 0.0f;
        carry[n] = n < count && args.d_final_state != NULL ? args.d_final_state[state + n] : 0.0f;
        d_A[n] = 0.0f;
    }

    walk<elems>(&args, u, delta, bias, A, B, count, 0, seq_len, CHUNK, saved, h); /* 1. */
    for (size_t chunk = chunks; chunk-- > 0;) {
        const size_t begin = chunk * CHUNK, end = begin + CHUNK < seq_len ? begin + CHUNK : seq_len;
        float chunk_A[elems], chunk_D = 0.0f, chunk_bias = 0.0f;
#pragma unroll
        for (int n = 0; n < elems; n++)
            h[n] = n < count ? saved[(chunk * elems + n) * 32] : 0.0f, chunk_A[n] = 0.0f;
        walk<elems>(&args, u, delta, bias, A, B, count, begin, end, 1, history, h); /* 2. */
        for (size_t l = end; l-- > begin;) {                                        /* 3. */
            const float v = delta[l] + bias, step = step_of(v, args.delta_softplus);
            const float d_y = z != NULL ? d_out[l] * silu(z[l]) : d_out[l];
            float y = D * u[l], d_input = D * d_y, d_step = 0.0f;
            if (first > 0 && active)
                y = z != NULL ? d_z[l] : 0.0f, d_input = d_u[l], d_step = d_delta[l];
#pragma unroll
            for (int n = 0; n < elems; n++)
                if (n < count) {
                    const float a = fast_exp2(step * (A[n] * LOG2_E)), b = B[n * seq_len + l], c = C[n * seq_len + l];
                    const float kept = a * history[((l - begin) * elems + n) * 32], now = kept + step * u[l] * b;
                    const float g = d_y * c + carry[n];
                    const float d_B = warp_sum(active ? g * step * u[l] : 0.0f);
                    const float d_C = warp_sum(active ? d_y * now : 0.0f);
                    if (lane == 0)
                        parts.d_B[part + n * seq_len + l] = d_B, parts.d_C[part + n * seq_len + l] = d_C;
                    y += c * now;
                    d_input += g * step * b;
                    d_step += g * (A[n] * kept + b * u[l]);
                    chunk_A[n] += g * kept * step;
                    carry[n] = a * g;
                }
            if (is_last && args.delta_softplus)
                d_step *= sigmoid(v); /* now it is that of delta */
            chunk_D += d_y * u[l], chunk_bias += d_step;
            if (active) {
                d_u[l] = d_input, d_delta[l] = d_step;
                if (z != NULL)
                    d_z[l] = is_last ? d_out[l] * y * silu_slope(z[l]) : y;
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

extern "C" cudaError_t selective_steps_backward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, true, selective_steps_workspace(args, true));
    if (error != cudaSuccess)
        return error;
    if (selective_is_empty(args))
        return selective_finish_empty(args, true, stream);
    const struct selective_parts parts = selective_parts_of(args, selective_warps(args));
    const size_t blocks = args->batch * args->groups * parts.per_group;
    if (blocks > 0x7FFFFFFF || args->storage != FLOAT32)
        return cudaErrorInvalidValue;
    for (size_t first = 0; first < args->states; first += STEPS_ELEMS)
        steps_backward<STEPS_ELEMS><<<(unsigned)blocks, 32, 0, stream>>>(*args, parts, first);
    const cudaError_t launched = cudaGetLastError();
    return launched != cudaSuccess ? launched : selective_add_up(args, &parts, stream);
}
