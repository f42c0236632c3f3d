/* SPDX-License-Identifier: MIT */
/* launch_of.h - a launch whose result is known. kernel<<<blocks, threads, shared, stream>>>(...) has none, and
   cudaGetLastError after it also returns, and clears, an error that other code of the program has left behind. The same
   launch as a call returns its own error and no other:

       const cudaLaunchConfig_t launch = launch_of(blocks, threads, shared, stream);
       return cudaLaunchKernelEx(&launch, kernel, ...);                                                            */
#ifndef LAUNCH_OF_H
#define LAUNCH_OF_H

#include <cuda_runtime.h>

/* `shared`: bytes of dynamic shared memory of each block. */
static inline cudaLaunchConfig_t launch_of(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream)
{
    cudaLaunchConfig_t launch = {};
    launch.gridDim = blocks;
    launch.blockDim = threads;
    launch.dynamicSmemBytes = shared;
    launch.stream = stream;
    return launch;
}

/* Blocks that wait for each other must all be resident, on the chip at the same time. A launch with this attribute has
   them all or none: where other kernels hold places, it waits until these end, and what never fits is refused
   (cudaErrorCooperativeLaunchTooLarge). */
static inline cudaLaunchAttribute all_resident(void)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    return attribute;
}

/* A launch with this attribute may begin while the kernel before it in the stream still runs, as soon as all blocks of
   that one have called next_may_begin or ended ("programmatic dependent launch", sm_90). So its own blocks are there
   when their turn comes. Until previous_is_done returns, which waits for that kernel's end, they must not read what
   it writes, nor write what it reads or writes. Below sm_90 nothing of this happens: give no attribute there. */
static inline cudaLaunchAttribute begins_early(void)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

static __device__ __forceinline__ void next_may_begin(void)
{
#if defined(CUSIM) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __device__ __forceinline__ void previous_is_done(void)
{
#if defined(CUSIM) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

#endif
