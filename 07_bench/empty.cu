/* SPDX-License-Identifier: MIT */
/* empty.cu - a kernel that does nothing: what a launch costs by itself, timed like all others. Nothing in a table can
   be faster than this row. */
#include <cuda_runtime.h>

#include "../common/cuda/launch_of.h"
#include "bench.h"

static __global__ void empty(void)
{
}

extern "C" cudaError_t empty_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    if (args->reverse)
        return cudaErrorInvalidValue;
    const cudaLaunchConfig_t launch = launch_of(1, 32, 0, stream);
    return cudaLaunchKernelEx(&launch, empty);
}
