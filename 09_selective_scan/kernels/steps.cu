/* SPDX-License-Identifier: MIT */
/* steps.cu - no scan at all: a thread walks one channel of one batch through time, and holds its states in registers.

   Chapter 02 gave each thread a sequence. Here it has `elems` sequences, the states of a channel, and whatever it loads
   for a step serves all of them:

       thread                      channel 0    channel 1    channel 2  ...
       u, delta, z, out            |row|        |row|        |row|            one element of its own row a step
       h, A                        h h h h      h h h h      h h h h          registers
       B, C                        one column of the group a step, the same for all threads of the group

   A channel with more states than registers takes them one group after the other, `elems` each time; the workspace then
   holds what the states before have added up. `dtype` is the type of u, delta, B, C, z and out. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "activations.cuh"
#include "grid.h"
#include "selective_check.h"
#include "sequence.cuh"

static const int kThreads = 128;

template <typename dtype, int elems>
static __global__ void steps_forward(struct selective_args args)
{
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= args.batch * args.channels)
        return;
    const size_t channel = thread % args.channels;
    const struct sequence sequence = sequence_of(&args, thread / args.channels);
    const size_t group = channel / (args.channels / args.groups);
    /* where this channel's row begins; `thread` counts batches, or packed sequences, and channels */
    const size_t row = (sequence.batch * args.channels + channel) * args.seq_len + sequence.begin;
    const dtype *const u = (const dtype *)args.u + row, *const delta = (const dtype *)args.delta + row;
    const dtype *const z = args.z != NULL ? (const dtype *)args.z + row : NULL;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    const float D = args.D != NULL ? args.D[channel] : 0.0f;
    dtype *const out = (dtype *)args.out + row;
    float *const so_far = (float *)args.workspace + row;

    for (size_t first = 0; first < args.states; first += elems) { /* the states, `elems` at a time */
        const size_t group_row =
            ((sequence.batch * args.groups + group) * args.states + first) * args.seq_len + sequence.begin;
        const dtype *const B = (const dtype *)args.B + group_row, *const C = (const dtype *)args.C + group_row;
        const bool is_first = first == 0, is_last = first + elems >= args.states;
        const int count = is_last ? (int)(args.states - first) : elems;
        float h[elems], A[elems];
#pragma unroll
        for (int n = 0; n < elems; n++) {
            A[n] = n < count ? args.A[channel * args.states + first + n] * LOG2_E : 0.0f;
            h[n] =
                n < count && args.initial_state != NULL ? args.initial_state[thread * args.states + first + n] : 0.0f;
        }
        /* [loop] Step by step. */
        for (size_t l = 0; l < sequence.length; l++) {
            const float step = step_of((float)delta[l] + bias, args.delta_softplus);
            const float step_u = step * (float)u[l];
            float y = is_first ? D * (float)u[l] : so_far[l];
#pragma unroll
            for (int n = 0; n < elems; n++)
                if (n < count) {
                    h[n] = fast_exp2(step * A[n]) * h[n] + step_u * (float)B[n * args.seq_len + l];
                    y += (float)C[n * args.seq_len + l] * h[n];
                }
            /* [store] The output, or what these states add to it. */
            if (is_last)
                out[l] = (dtype)(z != NULL ? y * silu((float)z[l]) : y);
            else
                so_far[l] = y;
        }
#pragma unroll
        for (int n = 0; n < elems; n++)
            if (n < count && args.final_state != NULL)
                args.final_state[thread * args.states + first + n] = h[n];
    }
}

template <typename dtype>
static cudaError_t launch(const struct selective_args *args, unsigned blocks, cudaStream_t stream)
{
    void (*const kernel)(struct selective_args) = args->states <= 1   ? steps_forward<dtype, 1>
                                                  : args->states <= 2 ? steps_forward<dtype, 2>
                                                  : args->states <= 4 ? steps_forward<dtype, 4>
                                                  : args->states <= 8 ? steps_forward<dtype, 8>
                                                                      : steps_forward<dtype, STEPS_ELEMS>;
    const cudaLaunchConfig_t launch = launch_of(blocks, kThreads, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args);
}

extern "C" cudaError_t selective_steps_forward(const struct selective_args *given, cudaStream_t stream)
{
    const struct selective_args sequences = selective_sequences(given), *const args = &sequences;
    const cudaError_t error = selective_check_packed(given, false, selective_steps_workspace(given, false));
    if (error != cudaSuccess)
        return error;
    if (selective_is_empty(given))
        return selective_finish_empty(given, false, stream);
    const size_t blocks = (args->batch * args->channels - 1) / kThreads + 1;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    return args->dtype == BF16   ? launch<__nv_bfloat16>(args, (unsigned)blocks, stream)
           : args->dtype == FP16 ? launch<__half>(args, (unsigned)blocks, stream)
                                 : launch<float>(args, (unsigned)blocks, stream);
}
