/* SPDX-License-Identifier: MIT */
/* layer_default.c - chunk for 16 bits where the chip has it and the sizes are even enough for it; else loop. */
#include "layer_kernels.h"

/* Whether chunk takes these sizes and this type. */
static bool fits_chunk(const struct layer_args *args)
{
    return args->dtype != FLOAT32 && args->dk % 8 == 0 && args->dv % 8 == 0 && args->dk <= 128;
}

cudaError_t layer_default(const struct layer_args *args, cudaStream_t stream)
{
    if (fits_chunk(args)) {
        const cudaError_t error = layer_chunk(args, stream);
        if (error != cudaErrorNotSupported)
            return error;
    }
    return layer_loop(args, stream);
}

/* Enough for both: which of them the chip has is known at the launch. */
size_t layer_default_backward_workspace(const struct layer_args *args)
{
    const size_t loop = layer_loop_backward_workspace(args);
    const size_t chunk = fits_chunk(args) ? layer_chunk_backward_workspace(args) : 0;
    return chunk > loop ? chunk : loop;
}

cudaError_t layer_default_backward(const struct layer_backward_args *args, cudaStream_t stream)
{
    if (fits_chunk(&args->layer)) {
        const cudaError_t error = layer_chunk_backward(args, stream);
        if (error != cudaErrorNotSupported)
            return error;
    }
    return layer_loop_backward(args, stream);
}
