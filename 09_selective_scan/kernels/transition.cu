/* SPDX-License-Identifier: MIT */
/* transition.cu - what a stretch of time does to the states that come into it. Each is multiplied by exp(step A) in
   every step, and so by exp(A times the sum of the steps) in all:

       final_state = transition * initial_state + what final_state would be without it

   A block has a channel of one batch, or of one packed sequence. Its threads have steps side by side, and each adds up
   RUN of them before it adds these to the others, so that no long chain of roundings arises:

       thread     0   1   2  ...  127 | 0   1   2  ...        the first RUN rounds are a run, the next ones another
       delta      d0  d1  d2      d127  d128 ...

   In a sequence of n steps a step passes up to RUN + n / (RUN * THREADS) + 10 additions, and as many times 2^-24 of the
   sum of their sizes is the most by which the sum is off. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "activations.cuh"
#include "grid.h"
#include "kernels.h"
#include "selective_check.h"
#include "sequence.cuh"

enum { THREADS = 128, RUN = 16 };

/* Block (batch * channels + channel). */
template <typename dtype>
static __global__ void __launch_bounds__(THREADS)
    transition_of_channel(struct selective_args args, float *__restrict__ transition)
{
    __shared__ float of_warps[THREADS / 32];
    const size_t channel = blockIdx.x % args.channels;
    const struct sequence sequence = sequence_of(&args, blockIdx.x / args.channels);
    const dtype *const delta =
        (const dtype *)args.delta + (sequence.batch * args.channels + channel) * args.seq_len + sequence.begin;
    const float bias = args.delta_bias != NULL ? args.delta_bias[channel] : 0.0f;
    float sum = 0.0f;
    for (size_t first = threadIdx.x; first < sequence.length; first += RUN * THREADS) {
        float run = 0.0f;
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const size_t l = first + i * THREADS;
            run += l < sequence.length ? step_of((float)delta[l] + bias, args.delta_softplus) : 0.0f;
        }
        sum += run;
    }
    /* [block] The threads' sums, in a fixed order. */
    for (int apart = 16; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, apart);
    if (threadIdx.x % 32 == 0)
        of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = of_warps[0];
    for (int w = 1; w < THREADS / 32; w++)
        sum += of_warps[w];
    for (size_t n = threadIdx.x; n < args.states; n += THREADS)
        transition[blockIdx.x * args.states + n] = expf(args.A[channel * args.states + n] * sum);
}

extern "C" cudaError_t selective_transition(const struct selective_args *given, float *transition, cudaStream_t stream)
{
    const struct selective_args args = selective_sequences(given);
    const void *const read[] = {given->A, given->delta, given->delta_bias, transition};
    const bool needed[] = {true, args.seq_len != 0, false, true};
    if (!selective_sizes_fit(given) || (uintptr_t)given->starts % sizeof(int) != 0)
        return cudaErrorInvalidValue;
    if (args.batch == 0 || args.channels == 0)
        return cudaSuccess;
    for (int i = 0; i < 4; i++)
        if ((uintptr_t)read[i] % 16 != 0 || (read[i] == NULL && needed[i]))
            return cudaErrorInvalidValue;
    if (args.batch > 0x7FFFFFFF / args.channels)
        return cudaErrorNotSupported;
    const auto kernel = args.dtype == BF16   ? transition_of_channel<__nv_bfloat16>
                        : args.dtype == FP16 ? transition_of_channel<__half>
                                             : transition_of_channel<float>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)(args.batch * args.channels), THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args, transition);
}
