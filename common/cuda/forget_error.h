/* SPDX-License-Identifier: MIT */
/* forget_error.h - after a call of CUDA that failed, before another one takes its place: its error is not left behind
   for the program. `before` is what cudaPeekAtLastError said before the call. An error of somebody else's has been
   replaced by then, and an error stays. */
#ifndef FORGET_ERROR_H
#define FORGET_ERROR_H

#include <cuda_runtime_api.h>

static inline void forget_error(cudaError_t before)
{
    if (before == cudaSuccess)
        cudaGetLastError();
}

#endif
