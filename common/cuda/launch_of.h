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

#endif
