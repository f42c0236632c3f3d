/* SPDX-License-Identifier: MIT */
/* layer_transition.cu - what a stretch of time does to the states that come into it. A head's state is multiplied by
   exp(s[t] A) in every step, and so by exp(A times the sum of the steps) in all:

       final_state = transition * initial_state + what final_state would be without it

   A lane has a head, whose neighbours' steps lie beside its own, and the warps of a block have steps one behind the
   other. Each adds up RUN of them before it adds these to the others, so that no long chain of roundings arises:

       dt           head 0  1  2 ... 31
       step 0       warp 0                     of a sequence of n steps a step passes up to RUN + n / (RUN * WARPS)
       step 1       warp 1                     + WARPS additions, and as many times 2^-24 of the sum of their sizes is
       ...                                     the most by which the sum is off
       step 32      warp 0                                                                                          */
#include <cuda_runtime.h>

#include "../../09_selective_scan/kernels/activations.cuh"
#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/launch_of.h"
#include "layer_check.h"
#include "layer_kernels.h"
#include "stretch.cuh"

enum { LANES = 32, WARPS = 32, RUN = 32 };

/* Block (sequence * slices + slice): a slice of LANES heads. */
template <int dtype>
static __global__ void __launch_bounds__(LANES *WARPS)
    transition_of_heads(struct layer_args args, unsigned slices, float *__restrict__ transition)
{
    __shared__ float of_warps[WARPS][LANES];
    const unsigned lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const size_t seq = blockIdx.x / slices, head = blockIdx.x % slices * LANES + lane;
    const struct stretch whole = whole_sequence(&args, seq);
    const bool inside = head < args.heads;
    const float bias = inside && args.dt_bias != NULL ? args.dt_bias[head] : 0.0f;
    float sum = 0.0f;
    for (size_t first = warp; first < whole.steps; first += RUN * WARPS) {
        float run = 0.0f;
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const size_t t = first + i * WARPS, at = (whole.first + t) * args.heads + head;
            run += inside && t < whole.steps ? step_of(read1<dtype>(args.dt, at) + bias, args.dt_softplus) : 0.0f;
        }
        sum += run;
    }
    of_warps[warp][lane] = sum;
    __syncthreads();
    if (warp != 0 || !inside)
        return;
    for (int w = 1; w < WARPS; w++)
        sum += of_warps[w][lane];
    transition[seq * args.heads + head] = expf(args.A[head] * sum);
}

extern "C" cudaError_t layer_transition(const struct layer_args *args, float *transition, cudaStream_t stream)
{
    const size_t seqs = layer_num_seqs(args), slices = (args->heads + LANES - 1) / LANES;
    const void *const read[] = {args->A, args->dt, args->dt_bias, transition};
    const bool needed[] = {true, args->seq_len != 0, false, true};
    if (!layer_sizes_fit(args))
        return cudaErrorInvalidValue;
    if (seqs == 0 || slices == 0)
        return cudaSuccess;
    for (int i = 0; i < 4; i++)
        if ((uintptr_t)read[i] % 16 != 0 || (read[i] == NULL && needed[i]))
            return cudaErrorInvalidValue;
    if (seqs > 0x7FFFFFFF / slices)
        return cudaErrorNotSupported;
    const auto kernel =
        by_dtype(args->dtype, transition_of_heads<FLOAT32>, transition_of_heads<BF16>, transition_of_heads<FP16>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)(seqs * slices), LANES * WARPS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, *args, (unsigned)slices, transition);
}
