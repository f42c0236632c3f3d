/* SPDX-License-Identifier: MIT */
/* registers_backward.cu - the gradients: registers.cu from the last chunk to the first, with d_h in the register. A
   block takes columns that share a decay, because d_gamma is a sum over them; where they are more than a block has
   threads, each part's sum goes to the workspace, and a second launch adds them up. No atomics: always the same bits.

       decay 0: columns 0 ... 255 | 256 ... 511 | ...        decay 1: ...
                block 0             block 1

   A block takes a stretch of chunks at a time (backward_space.h): one in float32; 8 in 16 bits, whose states the
   threads first compute again, if they are not given. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"
#include "kernels.h"
#include "chunk_check.h"
#include "load_store.cuh"

enum { MOST_THREADS = 256 };

/* What a block's threads add up to, in the order of the warps, for each of `count` values: thread n gets that of value
   n. Of two calls one behind the other each has its own `sums`. */
template <int count>
static __device__ __forceinline__ float block_sums(const float *values, float (*sums)[MOST_THREADS / 32])
{
#pragma unroll
    for (int n = 0; n < count; n++) {
        float value = values[n];
        for (int d = 16; d > 0; d /= 2)
            value += __shfl_xor_sync(0xFFFFFFFFu, value, d);
        if (threadIdx.x % 32 == 0)
            sums[n][threadIdx.x / 32] = value;
    }
    __syncthreads();
    const unsigned n = count == 1 ? 0 : threadIdx.x % count;
    float sum = sums[n][0];
    for (unsigned w = 1; threadIdx.x < count && w < blockDim.x / 32; w++)
        sum += sums[n][w];
    return sum;
}

/* Writes the state before each stretch but the first. Thread i has element i of (batch, columns). */
template <int dtype>
static __global__ void registers_checkpoints(struct flat_state flat, const void *__restrict__ h_local,
                                             const float *__restrict__ gamma, const float *__restrict__ initial_state,
                                             float *__restrict__ checkpoints)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= flat.batch * flat.columns)
        return;
    const size_t column = i % flat.columns, chunk = i / flat.columns * flat.chunks;
    const size_t last = (flat.chunks - 1) / STRETCH(dtype) * STRETCH(dtype);
    size_t at = chunk * flat.columns + column, decay = chunk * flat.decays + column / flat.per_decay;
    float h = initial_state != NULL ? initial_state[i] : 0.0f;
    for (size_t k = 0; k < last; k++, at += flat.columns, decay += flat.decays) {
        h = gamma[decay] * h + read1<dtype>(h_local, at);
        if ((k + 1) % STRETCH(dtype) == 0)
            checkpoints[k / STRETCH(dtype) * flat.batch * flat.columns + i] = h;
    }
}

/* Block (batch * decays + decay) * parts + part; a thread a column. d_gamma has `parts` sums for each decay. */
template <int dtype>
static __global__ void __launch_bounds__(MOST_THREADS)
    registers_backward(struct flat_state flat, size_t parts, bool exclusive, const void *__restrict__ states,
                       const float *__restrict__ gamma, const void *__restrict__ d_h_out,
                       const float *__restrict__ d_final_state, void *__restrict__ d_h_local,
                       float *__restrict__ d_gamma, float *__restrict__ d_initial_state, bool again,
                       const float *__restrict__ initial_state, const float *__restrict__ checkpoints)
{
    constexpr int stretch = STRETCH(dtype);
    __shared__ float sums[2][stretch][MOST_THREADS / 32];
    const size_t part = blockIdx.x % parts, decay = blockIdx.x / parts % flat.decays;
    const size_t batch = blockIdx.x / parts / flat.decays, in_decay = part * blockDim.x + threadIdx.x;
    const size_t column = decay * flat.per_decay + in_decay, state = batch * flat.columns + column;
    const bool inside = in_decay < flat.per_decay;
    float d = d_final_state != NULL && inside ? d_final_state[state] : 0.0f;
    for (size_t end = flat.chunks; end > 0;) {
        const size_t first = (end - 1) / stretch * stretch, first_row = batch * flat.chunks + first;
        const int in = stretch == 1 ? 1 : (int)(end - first);
        float h[stretch], product[stretch];
        end = first;
        if (stretch > 1) {
            const float *from =
                first == 0 ? initial_state : checkpoints + (first / stretch - 1) * flat.batch * flat.columns;
            float before = again && inside && from != NULL ? from[state] : 0.0f;
#pragma unroll
            for (int s = 0; s < stretch; s++) {
                const size_t row = first_row + s;
                h[s] = s < in && inside ? read1<dtype>(states, row * flat.columns + column) : 0.0f;
                if (again && s < in) { /* it is h_local */
                    const float local = h[s];
                    h[s] = before;
                    before = gamma[row * flat.decays + decay] * before + local;
                }
            }
        }
#pragma unroll
        for (int s = stretch - 1; s >= 0; s--) {
            const size_t row = first_row + s, at = row * flat.columns + column;
            product[s] = 0.0f;
            if (s >= in)
                continue;
            const float d_out = inside ? read1<dtype>(d_h_out, at) : 0.0f;
            if (!exclusive)
                d += d_out;
            if (inside)
                write1<dtype>(d_h_local, at, d);
            product[s] = inside ? d * (stretch == 1 ? read1<dtype>(states, at) : h[s]) : 0.0f;
            if (s == 0) { /* all of the stretch are there */
                const float sum = block_sums<stretch>(product, sums[first / stretch % 2]);
                const unsigned own = stretch == 1 ? 0 : threadIdx.x;
                if (threadIdx.x < (unsigned)in)
                    d_gamma[((row + own) * flat.decays + decay) * parts + part] = sum;
            }
            d = gamma[row * flat.decays + decay] * d;
            if (exclusive)
                d += d_out;
        }
    }
    if (d_initial_state != NULL && inside)
        d_initial_state[state] = d;
}

static size_t parts_of(const struct flat_state *flat)
{
    return flat->per_decay != 0 ? (flat->per_decay - 1) / MOST_THREADS + 1 : 1;
}

extern "C" size_t chunk_state_registers_workspace(const struct chunk_state_args *args, bool backward)
{
    const struct flat_state flat = flat_state_of(args);
    return backward ? backward_workspace(args, STRETCH(args->dtype), parts_of(&flat)) : 0;
}

/* Before the backward kernel, if the states are not given: all states, or checkpoints. */
static cudaError_t forward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat_state flat = flat_state_of(args);
    const size_t blocks = (flat.batch * flat.columns + 255) / 256;
    if (args->checkpoints == NULL)
        return chunk_state_registers(args, stream);
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const auto kernel = args->dtype == BF16 ? registers_checkpoints<BF16> : registers_checkpoints<FP16>;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 256, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, flat, args->h_local, args->gamma, args->initial_state,
                              args->checkpoints);
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
                                    : backward_space(args, STRETCH(args->dtype), parts, forward, stream, &space);
    if (done || error != cudaSuccess)
        return error;
    const size_t threads = parts > 1 ? (size_t)MOST_THREADS : (flat.per_decay + 31) / 32 * 32;
    const auto kernel =
        by_dtype(args->dtype, registers_backward<FLOAT32>, registers_backward<BF16>, registers_backward<FP16>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, (unsigned)threads, 0, stream);
    error = cudaLaunchKernelEx(&launch, kernel, flat, parts, args->exclusive, space.states, args->gamma, args->d_h_out,
                               args->d_final_state, args->d_h_local, space.d_gamma, args->d_initial_state, space.again,
                               space.initial_state, space.checkpoints);
    return error == cudaSuccess ? backward_add_parts(args, &space, stream) : error;
}
