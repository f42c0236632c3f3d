/* SPDX-License-Identifier: MIT */
/* launch.c - shared by the launchers of one pass: tiles, workspace, checks. See lookback.h. */
#include "lookback.h"
#include "one_hop_plan.h"

struct tiling lookback_tiling(const struct linrec_args *args, int rows)
{
    struct tiling tiling = tiling_of(args, LOOKBACK_LEAST_TILE);
    if (tiling.num_tiles > 0 && (rows == 1 || rows == 2 || rows == 4))
        return tiling_of(args, (size_t)rows * PIPE_ROW * LOOKBACK_THREADS / 32);
    if (tiling.num_tiles > 0)
        tiling.num_tiles = 0x80000000u;
    return tiling;
}

size_t lookback_workspace_of(size_t descriptors)
{
    return ONE_HOP_BYTES + 8 + 8 * descriptors;
}

struct workspace *lookback_space(const struct linrec_args *args)
{
    return (struct workspace *)((char *)args->workspace + ONE_HOP_BYTES);
}

size_t lookback_workspace(const struct linrec_args *args)
{
    const struct tiling tiling = tiling_of(args, LOOKBACK_LEAST_TILE);
    return lookback_workspace_of(tiling.num_tiles);
}

size_t lookback_resident_workspace(const struct linrec_args *args)
{
    const struct tiling tiling = lookback_tiling(args, LOOKBACK_ROWS);
    return lookback_workspace_of(tiling.num_tiles);
}

cudaError_t lookback_workspace_init(void *workspace, size_t size, cudaStream_t stream)
{
    return size == 0 ? cudaSuccess : cudaMemsetAsync(workspace, 0xFF, size, stream);
}

cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct tiling *tiling,
                           size_t workspace_size)
{
    const cudaError_t error = linrec_check_args_and_states(args, backward);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    return tiling->num_tiles > 0x7FFFFFFF || args->workspace == NULL || (uintptr_t)args->workspace % 16 != 0 ||
                   args->workspace_size < workspace_size
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

cudaError_t lookback_all_fit(const void *kernel, int threads, const struct tiling *tiling, const struct gpu_info *gpu,
                             bool *all_fit)
{
    int blocks = 0; /* on a multiprocessor */
    const cudaError_t error =
        gpu->cooperative ? cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0) : cudaSuccess;
    *all_fit = error == cudaSuccess && tiling->num_tiles <= (unsigned)(blocks * gpu->multiprocessors);
    return error;
}

cudaError_t lookback_launch(lookback_launcher *launcher, const struct linrec_args *args, cudaStream_t stream)
{
    struct gpu_info gpu;
    const cudaError_t error = gpu_info_read(&gpu);
    return error != cudaSuccess ? error : launcher(args, &gpu, stream);
}
