/* SPDX-License-Identifier: MIT */
/* layer_default.c - chunk for 16 bits where the chip has it and the sizes are even enough for it; else loop. */
#include "layer_kernels.h"

cudaError_t layer_default(const struct layer_args *args, cudaStream_t stream)
{
    if (args->dtype != FLOAT32 && args->dk % 8 == 0 && args->dv % 8 == 0 && args->dk <= 128) {
        const cudaError_t error = layer_chunk(args, stream);
        if (error != cudaErrorNotSupported)
            return error;
    }
    return layer_loop(args, stream);
}

size_t layer_default_backward_workspace(const struct layer_args *args)
{
    return layer_loop_backward_workspace(args);
}

cudaError_t layer_default_backward(const struct layer_backward_args *args, cudaStream_t stream)
{
    return layer_loop_backward(args, stream);
}
