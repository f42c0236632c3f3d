/* SPDX-License-Identifier: MIT */
/* registers_backward.cu - the gradients: registers.cu from the last chunk to the first, with d_h in the register. A
   block takes columns that share a decay, because d_gamma is a sum over them; where they are more than a block has
   threads, each part's sum goes to the workspace, and a second launch adds them up. No atomics: always the same bits.

       decay 0: columns 0 ... 255 | 256 ... 511 | ...        decay 1: ...
                block 0             block 1                  */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"
#include "kernels.h"
#include "chunk_check.h"
#include "load_store.cuh"

enum { MOST_THREADS = 256 };

/* What a block's threads add up to, in the order of the warps: thread 0 gets it. Of two calls one behind the other each
   has its own `sums`. */
static __device__ __forceinline__ float block_sum(float value, float *sums)
{
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFu, value, d);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = sums[0];
    for (unsigned w = 1; threadIdx.x == 0 && w < blockDim.x / 32; w++)
        sum += sums[w];
    return sum;
}

/* Block (batch * decays + decay) * parts + part; a thread a column. d_gamma has `parts` sums for each decay. */
template <int dtype>
static __global__ void __launch_bounds__(MOST_THREADS)
    registers_backward(struct flat_state flat, size_t parts, bool exclusive, const void *__restrict__ states,
                       const float *__restrict__ gamma, const void *__restrict__ d_h_out,
                       const float *__restrict__ d_final_state, void *__restrict__ d_h_local,
                       float *__restrict__ d_gamma, float *__restrict__ d_initial_state)
{
    __shared__ float sums[2][MOST_THREADS / 32];
    const size_t part = blockIdx.x % parts, decay = blockIdx.x / parts % flat.decays;
    const size_t batch = blockIdx.x / parts / flat.decays, in_decay = part * blockDim.x + threadIdx.x;
    const size_t column = decay * flat.per_decay + in_decay;
    const bool inside = in_decay < flat.per_decay;
    float d = d_final_state != NULL && inside ? d_final_state[batch * flat.columns + column] : 0.0f;
    for (size_t k = flat.chunks; k-- > 0;) {
        const size_t row = batch * flat.chunks + k, at = row * flat.columns + column;
        const float d_out = inside ? read1<dtype>(d_h_out, at) : 0.0f;
        if (!exclusive)
            d += d_out;
        if (inside)
            write1<dtype>(d_h_local, at, d);
        const float sum = block_sum(inside ? d * read1<dtype>(states, at) : 0.0f, sums[k % 2]);
        if (threadIdx.x == 0)
            d_gamma[(row * flat.decays + decay) * parts + part] = sum;
        d = gamma[row * flat.decays + decay] * d;
        if (exclusive)
            d += d_out;
    }
    if (d_initial_state != NULL && inside)
        d_initial_state[batch * flat.columns + column] = d;
}

static size_t parts_of(const struct flat_state *flat)
{
    return flat->per_decay != 0 ? (flat->per_decay - 1) / MOST_THREADS + 1 : 1;
}

extern "C" size_t chunk_state_registers_workspace(const struct chunk_state_args *args, bool backward)
{
    const struct flat_state flat = flat_state_of(args);
    return backward ? backward_workspace(args, parts_of(&flat)) : 0;
}

extern "C" cudaError_t chunk_state_registers_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat_state flat = flat_state_of(args);
    const size_t parts = parts_of(&flat), blocks = flat.batch * flat.decays * parts;
    struct backward_space space;
    bool done;
    cudaError_t error = chunk_state_begin(args, true, 0, stream, &done);
    if (!done)
        error = blocks > 0x7FFFFFFF ? cudaErrorInvalidValue
                                    : backward_space(args, parts, chunk_state_registers, stream, &space);
    if (done || error != cudaSuccess)
        return error;
    const size_t threads = parts > 1 ? (size_t)MOST_THREADS : (flat.per_decay + 31) / 32 * 32;
    const auto kernel =
        by_dtype(args->dtype, registers_backward<FLOAT32>, registers_backward<BF16>, registers_backward<FP16>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, (unsigned)threads, 0, stream);
    error = cudaLaunchKernelEx(&launch, kernel, flat, parts, args->exclusive, space.states, args->gamma, args->d_h_out,
                               args->d_final_state, args->d_h_local, space.d_gamma, args->d_initial_state);
    return error == cudaSuccess ? backward_add_parts(args, &space, stream) : error;
}
