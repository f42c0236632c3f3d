/* SPDX-License-Identifier: MIT */
/* launches.cu - the loop as a host writes it: one launch for each chunk. A launch ends before the next one begins, so
   the state can stay nowhere but in memory; it is the chunk before's h_out.

       launch 0             launch 1             launch 2
       x0, initial -> h0    x1, h0 -> h1         x2, h1 -> h2        per step 2 loads and 1 store of the state's size */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "chunk_check.h"

/* One thread computes one element of every batch's chunk k. `before`: where its last state is, `after`: where the new
   one goes, each NULL or elements of a batch apart `before_stride`, `after_stride`. */
static __global__ void step(struct flat_state flat, size_t k, const float *__restrict__ h_local,
                            const float *__restrict__ gamma, const float *before, size_t before_stride, float *after,
                            size_t after_stride)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= flat.batch * flat.columns)
        return;
    const size_t b = i / flat.columns, column = i % flat.columns, chunk = b * flat.chunks + k;
    const float h = before != NULL ? before[b * before_stride + column] : 0.0f;
    after[b * after_stride + column] =
        gamma[chunk * flat.decays + column / flat.per_decay] * h + h_local[chunk * flat.columns + column];
}

/* The state before the first chunk, to h_out, if that is exclusive. */
static __global__ void begin(struct flat_state flat, const float *initial_state, float *h_out)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < flat.batch * flat.columns)
        h_out[i / flat.columns * flat.chunks * flat.columns + i % flat.columns] =
            initial_state != NULL ? initial_state[i] : 0.0f;
}

/* The last state of each batch, to final_state. */
static __global__ void end(struct flat_state flat, const float *h_out, float *final_state)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < flat.batch * flat.columns)
        final_state[i] = h_out[(i / flat.columns * flat.chunks + flat.chunks - 1) * flat.columns + i % flat.columns];
}

extern "C" cudaError_t chunk_state_launches(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat_state flat = flat_state_of(args);
    const size_t blocks = (flat.batch * flat.columns + 255) / 256, row = flat.columns, all = flat.chunks * row;
    const float *before = args->initial_state;
    size_t before_stride = row;
    float *const h_out = (float *)args->h_out;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (done)
        return error;
    if (args->dtype != FLOAT32 || blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 256, 0, stream);
    if (args->exclusive)
        error = cudaLaunchKernelEx(&launch, begin, flat, before, h_out);
    for (size_t k = 0; k < flat.chunks && error == cudaSuccess; k++) {
        const bool is_last = args->exclusive && k + 1 == flat.chunks;
        float *const after = is_last ? args->final_state : h_out + (args->exclusive ? k + 1 : k) * row;
        const size_t after_stride = is_last ? row : all;
        if (after != NULL)
            error = cudaLaunchKernelEx(&launch, step, flat, k, (const float *)args->h_local, args->gamma, before,
                                       before_stride, after, after_stride);
        before = after;
        before_stride = after_stride;
    }
    if (!args->exclusive && args->final_state != NULL && error == cudaSuccess)
        error = cudaLaunchKernelEx(&launch, end, flat, h_out, args->final_state);
    return error;
}
