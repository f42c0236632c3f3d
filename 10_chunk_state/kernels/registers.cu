/* SPDX-License-Identifier: MIT */
/* registers.cu - one launch for all chunks, in which the state stays in a register: what a thread has computed it need
   not load.

       thread of element i:   initial -> h, then x0, h -> h | x1, h -> h | x2, h -> h | ...
                                                     |            |            |
                                                   h_out        h_out        h_out        1 load and 1 store a step */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "chunk_check.h"
#include "load_store.cuh"

/* Thread i goes through the chunks of element i of (batch, columns). */
template <int dtype>
static __global__ void registers_forward(struct flat_state flat, bool exclusive, const void *__restrict__ h_local,
                                         const float *__restrict__ gamma, const float *__restrict__ initial_state,
                                         void *__restrict__ h_out, float *__restrict__ final_state)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= flat.batch * flat.columns)
        return;
    const size_t column = i % flat.columns, chunk = i / flat.columns * flat.chunks;
    size_t at = chunk * flat.columns + column, decay = chunk * flat.decays + column / flat.per_decay;
    float h = initial_state != NULL ? initial_state[i] : 0.0f;
    for (size_t k = 0; k < flat.chunks; k++, at += flat.columns, decay += flat.decays) {
        const float before = h;
        h = gamma[decay] * h + read1<dtype>(h_local, at);
        write1<dtype>(h_out, at, exclusive ? before : h);
    }
    if (final_state != NULL)
        final_state[i] = h;
}

extern "C" cudaError_t chunk_state_registers(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat_state flat = flat_state_of(args);
    const size_t blocks = (flat.batch * flat.columns + 255) / 256;
    bool done;
    const cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (done)
        return error;
    if (blocks > 0x7FFFFFFF)
        return cudaErrorInvalidValue;
    const auto kernel =
        by_dtype(args->dtype, registers_forward<FLOAT32>, registers_forward<BF16>, registers_forward<FP16>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, 256, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, flat, args->exclusive, args->h_local, args->gamma, args->initial_state,
                              args->h_out, args->final_state);
}
