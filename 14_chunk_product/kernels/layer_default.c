/* SPDX-License-Identifier: MIT */
/* layer_default.c - loop, for every shape. */
#include "layer_kernels.h"

cudaError_t layer_default(const struct layer_args *args, cudaStream_t stream)
{
    return layer_loop(args, stream);
}
