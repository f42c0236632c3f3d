/* SPDX-License-Identifier: MIT */
/* prefetch.cu - registers.cu in float32 with four neighbouring columns a thread, and with the loads of the next chunks
   on their way:

       x[0..n-1] on their way | use x[0], load chunk n into it | use x[1], load chunk n + 1 into it | ...

   n is what fits in registers. Each x is used n steps after its load was sent. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "chunk_check.h"
#include "load_store.cuh"

/* Thread i goes through the chunks of elements 4 i ... 4 i + 3 of (batch, columns), with the loads of `distance` chunks
   on their way. */
template <int distance>
static __global__ void __launch_bounds__(256, 1)
    prefetch_forward(struct flat_state flat, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const float *__restrict__ initial_state, void *__restrict__ h_out,
                     float *__restrict__ final_state)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= flat.batch * flat.columns)
        return;
    const size_t column = i % flat.columns, chunk = i / flat.columns * flat.chunks;
    const size_t first = chunk * flat.columns + column, decay = chunk * flat.decays + column / flat.per_decay;
    float x[distance][4], g[distance], h[4];
#pragma unroll
    for (int c = 0; c < 4; c++)
        h[c] = initial_state != NULL ? initial_state[i + c] : 0.0f;
#pragma unroll
    for (int a = 0; a < distance; a++)
        if ((size_t)a < flat.chunks) {
            stream4<FLOAT32>(h_local, first + a * flat.columns, x[a]);
            g[a] = gamma[decay + a * flat.decays];
        }
    for (size_t base = 0; base < flat.chunks; base += distance)
#pragma unroll
        for (int a = 0; a < distance; a++) {
            const size_t k = base + a, next = k + distance;
            float out[4];
            if (k >= flat.chunks)
                break;
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const float before = h[c];
                h[c] = g[a] * h[c] + x[a][c];
                out[c] = exclusive ? before : h[c];
            }
            if (next < flat.chunks) {
                stream4<FLOAT32>(h_local, first + next * flat.columns, x[a]);
                g[a] = gamma[decay + next * flat.decays];
            }
            write4<FLOAT32>(h_out, first + k * flat.columns, out);
        }
    if (final_state != NULL)
#pragma unroll
        for (int c = 0; c < 4; c++)
            final_state[i + c] = h[c];
}

extern "C" cudaError_t chunk_state_prefetch(const struct chunk_state_args *args, cudaStream_t stream)
{
    const struct flat_state flat = flat_state_of(args);
    const int threads = args->config.threads != 0 ? args->config.threads : 128;
    const int distance = args->config.rows != 0 ? args->config.rows : 8;
    const size_t items = flat.batch * flat.columns / 4, blocks = (items + threads - 1) / threads;
    bool done;
    const cudaError_t error = chunk_state_begin(args, false, 0, stream, &done);
    if (done)
        return error;
    const auto kernel = distance == 2    ? prefetch_forward<2>
                        : distance == 4  ? prefetch_forward<4>
                        : distance == 8  ? prefetch_forward<8>
                        : distance == 16 ? prefetch_forward<16>
                                         : NULL;
    if (args->dtype != FLOAT32 || args->dv % 4 != 0 || blocks > 0x7FFFFFFF || threads > 256 || threads % 32 != 0 ||
        kernel == NULL)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, threads, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, flat, args->exclusive, args->h_local, args->gamma, args->initial_state,
                              args->h_out, args->final_state);
}
