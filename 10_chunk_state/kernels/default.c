/* SPDX-License-Identifier: MIT */
/* default.c - which kernel for which shape and chip:

   - with W and Y: mma from rank 9 on, in 16 bits from rank 5 on, where the chip has tensor cores for tf32 (sm_80) and
     shared memory for it, for up to MMA_MAX_ROWS rows; else low_rank;
   - where TMA takes the shape (sm_90, dv a multiple of 8): split, if all batches together have no more slices of 2 KB
     than a quarter of the multiprocessors, which would have little to do; else tma;
   - else in float32, where dv is a multiple of 4, prefetch;
   - else, and for the gradients, registers. */
#include "kernels.h"
#include "low_rank_shape.h"
#include "tma_shape.h"

/* Whether TMA takes the shape, and if so, whether its slices are few. */
static bool is_for_tma(const struct chunk_state_args *args, bool *few)
{
    struct gpu_info gpu;
    const struct flat_state flat = flat_state_of(args);
    const struct slicing slicing = slicing_of(&flat, (unsigned)(2048 / dtype_bytes(args->dtype)));
    if (args->dv % TMA_COLUMNS_OF != 0 || slicing.slices == 0 || flat.batch > 0x7FFFFFFF / 4 / slicing.slices ||
        gpu_info_read(&gpu) != cudaSuccess || gpu.arch < 90)
        return false;
    *few = flat.batch * slicing.slices <= (size_t)gpu.multiprocessors / 4 && args->chunks >= 4 * TILE_STEPS;
    return true;
}

/* The first rank at which mma was faster than low_rank, at the proposal's shape on an H200 (low_rank.md). */
static size_t mma_min_rank(const struct chunk_state_args *args)
{
    return args->dtype == FLOAT32 ? 9 : 5;
}

bool chunk_state_mma_tensor_cores(const struct chunk_state_args *args)
{
    return args->rank != 0;
}

bool chunk_state_default_tensor_cores(const struct chunk_state_args *args)
{
    struct gpu_info gpu;
    struct low_rank_shape shape;
    return args->rank >= mma_min_rank(args) && gpu_info_read(&gpu) == cudaSuccess && gpu.arch >= 80 &&
           mma_shape_of(args, &shape) == cudaSuccess;
}

cudaError_t chunk_state_forward(const struct chunk_state_args *args, cudaStream_t stream)
{
    bool few = false;
    if (args->rank != 0)
        return chunk_state_default_tensor_cores(args) ? chunk_state_mma(args, stream)
                                                      : chunk_state_low_rank(args, stream);
    if (!is_for_tma(args, &few))
        return args->dtype == FLOAT32 && args->dv % 4 == 0 ? chunk_state_prefetch(args, stream)
                                                           : chunk_state_registers(args, stream);
    return few ? chunk_state_split(args, stream) : chunk_state_tma(args, stream);
}

cudaError_t chunk_state_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    bool few = false;
    if (args->rank != 0)
        return chunk_state_low_rank_backward(args, stream);
    return is_for_tma(args, &few) ? chunk_state_tma_backward(args, stream)
                                  : chunk_state_registers_backward(args, stream);
}

size_t chunk_state_default_workspace(const struct chunk_state_args *args, bool backward)
{
    bool few = false;
    if (args->rank != 0)
        return chunk_state_low_rank_workspace(args, backward);
    if (!is_for_tma(args, &few))
        return chunk_state_registers_workspace(args, backward);
    return backward ? chunk_state_tma_workspace(args, true) : 0;
}
