/* SPDX-License-Identifier: MIT */
/* cp_async.h - cp.async with a hint to the L2 cache, and a wait that leaves as many on their way as a variable says.

   Whoever reads 32 or 64 bytes of a row, and the bytes behind them a little later, reads memory in small pieces. The L2
   cache can fetch all 256 bytes around them when the first are asked for, and has the rest when it is needed.

   CUDA C has no words for this, so it is PTX here (PTX ISA, "cp.async", ".L2::256B"). Results do not depend on it. The
   simulator has it in sim_cp_async.h. */
#ifndef CP_ASYNC_H
#define CP_ASYNC_H

#include <cuda_pipeline.h>

#ifdef CUSIM
#include <sim_cp_async.h>
#else

/* Like __pipeline_memcpy_async of 16 bytes; the L2 cache fetches all 256 bytes around them. */
static __device__ __forceinline__ void cp_async_l2_prefetch(void *shared, const void *global)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global)
                 : "memory");
#else
    __pipeline_memcpy_async(shared, global, 16);
#endif
}

#endif /* CUSIM */

/* Waits until at most so many of the thread's commits are on their way. The instruction takes a constant, of which
   those up to `offered`, 3 or 4, are here: where more might be left, it waits until that many are. (A chain of ==
   becomes a jump through a table in memory, which took 50 to 70 clocks in single runs on an H200.) */
template <int offered>
static __device__ __forceinline__ void cp_async_wait(int most)
{
    if (offered >= 4 && most >= 4)
        __pipeline_wait_prior(4);
    else if (most >= 3)
        __pipeline_wait_prior(3);
    else if (most >= 2)
        __pipeline_wait_prior(2);
    else if (most >= 1)
        __pipeline_wait_prior(1);
    else
        __pipeline_wait_prior(0);
}

#endif
