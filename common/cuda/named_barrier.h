/* SPDX-License-Identifier: MIT */
/* named_barrier.h - barriers for some warps of a block. __syncthreads holds all threads of a block, a named barrier
   only as many as it is told, so that warps with different tasks can hand work to each other in turn:

       warp 0, the producer                        warp 1, the consumer
       writes a tile to shared memory
       named_barrier_arrive(1, 64) ------------->  named_barrier_sync(1, 64)    the tile is there
                                                   reads it
       named_barrier_sync(2, 64)   <-------------  named_barrier_arrive(2, 64)  it may be overwritten

   A block has 16 barriers, 0 to 15, and 0 is that of __syncthreads: take 1 to 15. A barrier counts the threads that
   come to it, by sync or by arrive, warp by warp. When `threads` of them have come, those in sync go on, and it begins
   anew. All that came must name the same number, a multiple of 32; all lanes of a warp call together. What a thread did
   before it came is done for those that waited in sync; one that only arrives learns nothing. A thread must not come a
   second time while the others are still expected for the first: a pair of barriers, as above, sees to that.

   compute-sanitizer's racecheck takes no notice of arrive: it reports what is written before arrive and read behind
   sync, the picture above, as a hazard. With sync on both sides it reports nothing (seen with 13.0, four warps
   in turn).

   CUDA C has no words for these instructions, so they are PTX here (PTX ISA, "bar"). They run on all chips. The
   simulator has them in sim_named_barrier.h. */
#ifndef NAMED_BARRIER_H
#define NAMED_BARRIER_H

#ifdef CUSIM
#include <sim_named_barrier.h>
#else

/* Comes to barrier `id`, and waits until `threads` threads have. */
static __device__ __forceinline__ void named_barrier_sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Comes to barrier `id` and goes on. */
static __device__ __forceinline__ void named_barrier_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#endif /* CUSIM */
#endif
