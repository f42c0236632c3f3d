/* SPDX-License-Identifier: MIT */
/* baselines.h - the harness's own kernels, where the arrays live: the flush, and the elementwise kernels to compare
   with.

   baselines.cu does it on the GPU (and on the simulator), baselines_cpu.c in plain loops on the CPU. All return a
   cudaError_t and do not wait. */
#ifndef BASELINES_H
#define BASELINES_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads `size` bytes, so that the L2 cache holds nothing else, and none of it waits to be written back. */
cudaError_t device_flush(const void *buffer, size_t size);

/* Arrays of `count` elements of a type, aligned to 16 bytes. Of float32 copy reads 4 B and writes 4 B an element, add 8
   and 4, add5 12 and 8; of the types of 16 bits half as much. */
cudaError_t device_copy(size_t bytes, const void *from, void *to, cudaStream_t stream);
cudaError_t device_add(enum dtype dtype, size_t count, const void *a, const void *b, void *sum, cudaStream_t stream);
cudaError_t device_add5(enum dtype dtype, size_t count, const void *a, const void *b, const void *c, void *ab, void *bc,
                        cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
