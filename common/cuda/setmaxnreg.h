/* SPDX-License-Identifier: MIT */
/* setmaxnreg.h - four warps, a warpgroup, give up registers that others of their block need more. All threads of a
   block start with as many as the kernel was compiled for; a warpgroup with little to do keeps fewer, and one that
   holds large matrices waits until there are enough for it:

       4 groups of 128 registers                 at first
       2 groups of 192, one of 96, one of 32     after that: as many together

   CUDA C has no words for this, so it is PTX (PTX ISA, "setmaxnreg"), for the target sm_90a; for others it does
   nothing. Results do not depend on it, and the simulator ignores it. */
#ifndef SETMAXNREG_H
#define SETMAXNREG_H

/* All threads of a warpgroup call it together, and from there on have `registers` each, a multiple of 8 from 24 to
   256: no fewer than before, or no more. */
template <int registers>
static __device__ __forceinline__ void raise_registers(void)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}

template <int registers>
static __device__ __forceinline__ void lower_registers(void)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
#endif
}

#endif
