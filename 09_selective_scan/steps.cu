/* steps.cu - no scan at all: a thread walks one channel of one batch through time, and holds its states in registers.

   Chapter 02 gave each thread a sequence. Here it has `elems` sequences, the states of a channel, and whatever it loads
   for a step serves all of them:

       thread                      channel 0    channel 1    channel 2  ...
       u, delta, z, out            |row|        |row|        |row|            one element of its own row a step
       h, A                        h h h h      h h h h      h h h h          registers
       B, C                        one column of the group a step, the same for all threads of the group

   A channel with more states than registers takes them in turn, `elems` each time; `out` then holds what the states
   before have added up. What is beyond the last state is a state with A = B = C = 0. */
#include <cuda_runtime.h>

#include "selective.cuh"
#include "selective_scan.h"

static const int kThreads = 128;

template <int elems>
static __global__ void steps_forward(struct selective_args args)
{
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= args.batch * args.channels)
        return;
    const size_t batch = thread / args.channels, channel = thread % args.channels;
    const size_t group = channel / (args.channels / args.groups);
    const size_t row =
        thread * args.seq_len; /* where this channel's row begins; `thread` counts batches and channels */
    const float *const u = (const float *)args.u + row, *const delta = (const float *)args.delta + row;
    const float *const z = args.z != NULL ? (const float *)args.z + row : NULL;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = args.D != NULL ? args.D[channel] : 0.0f;
    float *const out = (float *)args.out + row;

    for (size_t first = 0; first < args.states; first += elems) { /* the states, `elems` in turn */
        const size_t group_row = ((batch * args.groups + group) * args.states + first) * args.seq_len;
        const float *const B = (const float *)args.B + group_row, *const C = (const float *)args.C + group_row;
        const bool is_first = first == 0, is_last = first + elems >= args.states;
        const int count = is_last ? (int)(args.states - first) : elems;
        float h[elems], A[elems];
#pragma unroll
        for (int n = 0; n < elems; n++) {
            A[n] = n < count ? args.A[channel * args.states + first + n] * LOG2_E : 0.0f;
            h[n] =
                n < count && args.initial_state != NULL ? args.initial_state[thread * args.states + first + n] : 0.0f;
        }
        for (size_t l = 0; l < args.seq_len; l++) {
            const float step = step_of(delta[l] + bias, args.delta_softplus);
            const float step_u = step * u[l];
            float y = is_first ? D * u[l] : out[l];
#pragma unroll
            for (int n = 0; n < elems; n++)
                if (n < count) {
                    h[n] = fast_exp2(step * A[n]) * h[n] + step_u * B[n * args.seq_len + l];
                    y += C[n * args.seq_len + l] * h[n];
                }
            out[l] = is_last && z != NULL ? y * silu(z[l]) : y;
        }
#pragma unroll
        for (int n = 0; n < elems; n++)
            if (n < count && args.final_state != NULL)
                args.final_state[thread * args.states + first + n] = h[n];
    }
}

extern "C" cudaError_t selective_steps_forward(const struct selective_args *args, cudaStream_t stream)
{
    const cudaError_t error = selective_check_args(args, false, 0);
    if (error != cudaSuccess)
        return error;
    if (selective_is_empty(args))
        return selective_finish_empty(args, false, stream);
    const size_t blocks = (args->batch * args->channels - 1) / kThreads + 1;
    if (blocks > 0x7FFFFFFF || args->storage != FLOAT32)
        return cudaErrorInvalidValue;
    void (*const kernel)(struct selective_args) = args->states <= 1   ? steps_forward<1>
                                                  : args->states <= 2 ? steps_forward<2>
                                                  : args->states <= 4 ? steps_forward<4>
                                                  : args->states <= 8 ? steps_forward<8>
                                                                      : steps_forward<16>;
    kernel<<<(unsigned)blocks, kThreads, 0, stream>>>(*args);
    return cudaGetLastError();
}
