/* SPDX-License-Identifier: MIT */
/* 08.3  A flag and its data */
#include <cuda/atomic>
#include <cuda_runtime.h>

enum { CHANNELS = 32, STEPS = 8 }; /* of a tile */

/* Each block takes the next tile, and lane l channel l. inputs, coeffs, outputs: (seq_len, CHANNELS). leaves: CHANNELS
   for each tile; flags: one for each tile, at first 0, as is *ticket. */
static __global__ void __launch_bounds__(CHANNELS)
    channels(int seq_len, const float *__restrict__ inputs, const float *__restrict__ coeffs,
             float *__restrict__ outputs, float *leaves, unsigned *flags, unsigned *ticket)
{
    __shared__ unsigned number_taken;
    const int lane = threadIdx.x;
    float y[STEPS], c[STEPS];

    if (lane == 0)
        number_taken = atomicAdd(ticket, 1);
    __syncthreads();
    const unsigned number = number_taken;
    const int begin = (int)number * STEPS, steps = seq_len - begin < STEPS ? seq_len - begin : STEPS;
    const size_t own = (size_t)begin * CHANNELS + lane; /* the lane's first element */

    /* What the tile does by itself, up to each step. */
    float product = 1.0f, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        const bool used = i < steps && begin + i > 0;
        const float coeff = used ? coeffs[own + i * CHANNELS] : 1.0f;
        product *= coeff;
        sum = sum * coeff + (i < steps ? inputs[own + i * CHANNELS] : 0.0f);
        c[i] = product, y[i] = sum;
    }

    /* What leaves the tile before comes into this one. */
    if (number > 0) {
        if (lane == 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flags[number - 1]);
            while (flag.load(cuda::memory_order_acquire) == 0)
                ;
        }
        __syncwarp();
        const float carry = leaves[(size_t)(number - 1) * CHANNELS + lane];
#pragma unroll
        for (int i = 0; i < STEPS; i++)
            y[i] = carry * c[i] + y[i];
    }

    /* What leaves this one; behind the end nothing has changed it. */
    leaves[(size_t)number * CHANNELS + lane] = y[STEPS - 1];
    __syncwarp();
    if (lane == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(flags[number]);
        flag.store(1, cuda::memory_order_release);
    }
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        if (i < steps)
            outputs[own + i * CHANNELS] = y[i];
}

extern "C" cudaError_t launch_channels(int seq_len, const float *inputs, const float *coeffs, float *outputs,
                                       float *leaves, unsigned *flags, unsigned *ticket)
{
    if (seq_len == 0)
        return cudaSuccess;
    channels<<<(seq_len + STEPS - 1) / STEPS, CHANNELS>>>(seq_len, inputs, coeffs, outputs, leaves, flags, ticket);
    return cudaGetLastError();
}
