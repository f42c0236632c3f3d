/* SPDX-License-Identifier: MIT */
/* 10.2  One chunk early */
#include <cuda_runtime.h>

#include <cuda_pipeline.h>

enum { THREADS = 128 };

/* The thread's columns of chunk k, which begin at `first`, and the chunk's decay set off for a stage. Past the last
   chunk nothing does. */
static __device__ __forceinline__ void send(const float *h_local, const float *gamma, int chunks, int columns, int k,
                                            int first, float4 *x, float *decay)
{
    if (k < chunks) {
        __pipeline_memcpy_async(x, h_local + (size_t)k * columns + first, 16);
        __pipeline_memcpy_async(decay, gamma + k, 4);
    }
    __pipeline_commit();
}

/* h_local, h_out: (chunks, columns), columns a multiple of 4. gamma: (chunks). Both states: (columns). */
static __global__ void __launch_bounds__(THREADS)
    one_chunk_early(int chunks, int columns, const float *__restrict__ h_local, const float *__restrict__ gamma,
                    const float *__restrict__ initial_state, float *__restrict__ h_out, float *__restrict__ final_state)
{
    __shared__ float4 x[2][THREADS];
    __shared__ float decays[2][THREADS];
    const int own = threadIdx.x, first = (blockIdx.x * THREADS + own) * 4;
    if (first >= columns)
        return;
    float4 h = *(const float4 *)(initial_state + first);
    send(h_local, gamma, chunks, columns, 0, first, &x[0][own], &decays[0][own]);
    for (int k = 0; k < chunks; k++) {
        const int stage = k % 2;
        send(h_local, gamma, chunks, columns, k + 1, first, &x[stage ^ 1][own], &decays[stage ^ 1][own]);
        __pipeline_wait_prior(1);

        const float4 local = x[stage][own];
        const float decay = decays[stage][own];
        *(float4 *)(h_out + (size_t)k * columns + first) = h;
        h.x = decay * h.x + local.x;
        h.y = decay * h.y + local.y;
        h.z = decay * h.z + local.z;
        h.w = decay * h.w + local.w;
    }
    *(float4 *)(final_state + first) = h;
}

/* Columns that are a multiple of 4. */
extern "C" cudaError_t launch_prefetch(int chunks, int columns, const float *h_local, const float *gamma,
                                       const float *initial_state, float *h_out, float *final_state)
{
    if (columns % 4 != 0)
        return cudaErrorInvalidValue;
    if (columns == 0)
        return cudaSuccess;
    one_chunk_early<<<(columns / 4 + THREADS - 1) / THREADS, THREADS>>>(chunks, columns, h_local, gamma, initial_state,
                                                                        h_out, final_state);
    return cudaGetLastError();
}
