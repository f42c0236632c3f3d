/* SPDX-License-Identifier: MIT */
/* default.c - tensor_map, where chip and arrays allow it and a sequence fills one of its chunks; else split. What these
   cannot cut into chunks that they can number, about 2^31 of them, is loop's. Where loop's threads fill the chip, it is
   faster than split, and no faster than tensor_map. */
#include "chunk_plan.h"
#include "kernels.h"

size_t layout_workspace(const struct layout_args *args, bool backward)
{
    const size_t split = layout_split_workspace(args, backward); /* 0: there are no chunks, or too many */
    const size_t tensor_map = layout_tensor_map_workspace(args, backward);
    return split > tensor_map || split == 0 ? split : tensor_map;
}

cudaError_t layout_forward(const struct layout_args *args, cudaStream_t stream)
{
    if (layout_split_workspace(args, false) == 0)
        return layout_loop(args, stream);
    cudaError_t error = cudaErrorNotSupported;
    if (args->seq_len >= TILE_WARPS * TILE_ROWS)
        error = layout_tensor_map(args, stream);
    return error == cudaErrorNotSupported ? layout_split(args, stream) : error;
}

cudaError_t layout_backward(const struct layout_args *args, cudaStream_t stream)
{
    if (layout_split_workspace(args, true) == 0)
        return layout_loop_backward(args, stream);
    cudaError_t error = cudaErrorNotSupported;
    if (args->seq_len >= TILE_WARPS * TILE_ROWS)
        error = layout_tensor_map_backward(args, stream);
    return error == cudaErrorNotSupported ? layout_split_backward(args, stream) : error;
}
