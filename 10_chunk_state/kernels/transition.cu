/* SPDX-License-Identifier: MIT */
/* transition.cu - what a stretch of chunks does to the states that come into it:

       final_state = transition * initial_state + what final_state would be without it

   Without W and Y it is one number for each decay, the product of a decay over all chunks. With them it is the product
   of the matrices A[k], of dk rows and columns: what forward makes of the identity if nothing is added, so plain.cu
   computes it. */
#include <cuda_runtime.h>

#include <stdint.h>

#include "../../common/cuda/launch_of.h"
#include "chunk_check.h"
#include "chunk_range.cuh"
#include "kernels.h"

enum { THREADS = 256 };

/* Thread i goes through the chunks of decay i of (batch, heads, decays). Neighbours lie side by side in each chunk. */
static __global__ void __launch_bounds__(THREADS)
    transition_of_decays(size_t count, struct flat_state flat, const int *__restrict__ starts,
                         const float *__restrict__ gamma, float *__restrict__ transition)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const struct chunk_range range = chunk_range_of(starts, i / flat.decays, flat.chunks);
    float product = 1.0f;
    for (size_t k = range.first; k < range.first + range.count; k++)
        product *= gamma[k * flat.decays + i % flat.decays];
    transition[i] = product;
}

extern "C" cudaError_t chunk_state_transition(const struct chunk_state_args *args, float *transition,
                                              cudaStream_t stream)
{
    struct chunk_state_args square = *args;
    square.dv = args->dk;
    const struct flat_state flat = flat_state_of(&square);
    const size_t count = chunk_state_num_seqs(args) * flat.decays, blocks = (count + THREADS - 1) / THREADS;
    const void *const read[] = {args->gamma, args->W, args->Y, transition};
    const bool chunks = args->chunks != 0,
               needed[] = {chunks, chunks && args->rank != 0, chunks && args->rank != 0, true};
    if (!chunk_state_sizes_fit(&square, CHUNK_STATE_MAX_RANK))
        return cudaErrorInvalidValue;
    if (chunk_state_num_seqs(args) == 0 || args->heads == 0 || args->dk == 0)
        return cudaSuccess;
    for (int i = 0; i < 4; i++)
        if ((uintptr_t)read[i] % 16 != 0 || (read[i] == NULL && needed[i]))
            return cudaErrorInvalidValue;
    if (args->rank != 0)
        return chunk_state_plain_transition(args, transition, stream);
    if (blocks > 0x7FFFFFFF)
        return cudaErrorNotSupported;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, transition_of_decays, count, flat, args->starts, args->gamma, transition);
}
