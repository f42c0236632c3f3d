/* SPDX-License-Identifier: MIT */
/* sim_cp_async.h - stands in for functions over PTX: hints to the L2 cache change no result. */
#ifndef SIM_CP_ASYNC_H
#define SIM_CP_ASYNC_H

#include "cuda_pipeline.h"

/* Copies 16 bytes. */
SIM_INLINE void cp_async_l2_prefetch(void *shared, const void *global, SIM_AT)
{
    __pipeline_memcpy_async(shared, global, 16, 0, file, line);
}

#endif
