/* SPDX-License-Identifier: MIT */
/* gpu_info.h - facts of the GPU that a launcher needs before it chooses a kernel, tiles and shared memory. */
#ifndef GPU_INFO_H
#define GPU_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_info {
    int arch;            /* the compute capability whose code the chip runs (arch.h), 90 for 9.0 */
    size_t shared_limit; /* bytes of dynamic shared memory that a block may have if it asks */
    int multiprocessors; /* how many it has */
    bool cooperative;    /* it takes cooperative launches, whose blocks are all resident at the same time */
    int chip_arch;       /* the chip's own compute capability: some instructions are gone again on a newer one */
};

/* Asks the current device. */
cudaError_t gpu_info_read(struct gpu_info *gpu);

/* Asks for `bytes` of dynamic shared memory for each block of a kernel that needs compute capability `arch`.
   cudaErrorNotSupported if the chip, or the code that was compiled, has not got that. */
cudaError_t gpu_allow_shared(const void *kernel, size_t bytes, int arch);

#ifdef __cplusplus
}
#endif
#endif
