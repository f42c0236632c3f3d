/* SPDX-License-Identifier: MIT */
/* 08.3  A flag and its data

   Chapter 08's tile descriptor holds flag and data in 8 bytes: a single number leaves a tile. Here a step has 32
   channels, each a recurrence of its own, so 32 numbers leave a tile. They lie in an array, and a flag tells that they
   are there:

       block t - 1                                        block t
       leaves[t - 1][0 ... 31] = ...                      while (flags[t - 1] == 0);
       flags[t - 1] = 1          --------------------->   ... = leaves[t - 1][0 ... 31]

   The flag is atomic, but relaxed. That promises that nobody reads half of it, and says nothing about any other
   memory: block t may see the flag and still read what was in `leaves` before. The simulator calls this a race, also
   where the numbers happen to be right.

   Two promises are missing. A *release* is a store that says: what came before me is there for whoever acquires me. An
   *acquire* is a load that says: what comes after me sees all that was released. The stores of the other 31 lanes come
   before that of lane 0, and their loads after its load, by __syncwarp(), which is there already.

   Goal: right in every order of blocks, and no stronger than needed: one release a block and, but for the first one,
   one acquire, for thread_scope_device. The simulator's message speaks of __threadfence(). That would do, too, but it
   is sequentially consistent: it orders this block's accesses among all such fences of the GPU, which nobody needs
   here.

   Change the two lines that say "here". The memory orders are cuda::memory_order_relaxed, _acquire, _release,
   _acq_rel and _seq_cst. */
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
            while (flag.load(cuda::memory_order_relaxed) == 0) /* here */
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
        flag.store(1, cuda::memory_order_relaxed); /* here */
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
