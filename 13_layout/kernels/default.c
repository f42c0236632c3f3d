/* SPDX-License-Identifier: MIT */
/* default.c - split, for every shape: where loop's threads fill the chip, split was as fast (single runs on an H100 and
   an H200). What split cannot cut into chunks that it can number, more than 2^31 of them, is loop's. */
#include "kernels.h"

size_t layout_workspace(const struct layout_args *args, bool backward)
{
    return layout_split_workspace(args, backward); /* 0: there are no chunks, or too many */
}

cudaError_t layout_forward(const struct layout_args *args, cudaStream_t stream)
{
    return (layout_workspace(args, false) != 0 ? layout_split : layout_loop)(args, stream);
}

cudaError_t layout_backward(const struct layout_args *args, cudaStream_t stream)
{
    return (layout_workspace(args, true) != 0 ? layout_split_backward : layout_loop_backward)(args, stream);
}
