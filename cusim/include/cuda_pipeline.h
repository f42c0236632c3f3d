/* SPDX-License-Identifier: MIT */
/* cuda_pipeline.h - asynchronous copies from global to shared memory (cp.async).

   A copy makes its destination NaN when it is issued and takes effect when the thread that issued it waits for it. */
#ifndef CUDA_PIPELINE_H
#define CUDA_PIPELINE_H

#include "cuda_runtime.h"

/* Copies `size` (4, 8 or 16) bytes, the last `zero` of which are set to 0 instead of read. */
void __pipeline_memcpy_async(void *shared, const void *global, size_t size, size_t zero = 0, SIM_AT);

/* Ends the group of copies issued since the last commit. */
void __pipeline_commit(SIM_AT);

/* Waits for all groups but the last `prior`. Copies that were never committed are not waited for. */
void __pipeline_wait_prior(size_t prior, SIM_AT);

#endif
