/* SPDX-License-Identifier: MIT */
/* launch.c - shared by the launchers of one pass: tiles, workspace, checks. See lookback.h. */
#include "lookback.h"

struct tiling lookback_tiling(const struct linrec_args *args, int rows)
{
    struct tiling tiling = tiling_of(args, LOOKBACK_LEAST_TILE);
    if (tiling.num_tiles > 0 && (rows == 1 || rows == 2 || rows == 4))
        return tiling_of(args, (size_t)rows * PIPE_ROW * LOOKBACK_THREADS / 32);
    if (tiling.num_tiles > 0)
        tiling.num_tiles = 0x80000000u;
    return tiling;
}

/* A ticket, a counter and a descriptor for each tile. */
static size_t workspace_size(const struct tiling *tiling)
{
    return 8 + 8 * (size_t)tiling->num_tiles;
}

size_t lookback_workspace(const struct linrec_args *args)
{
    const struct tiling tiling = tiling_of(args, LOOKBACK_LEAST_TILE);
    return workspace_size(&tiling);
}

size_t lookback_resident_workspace(const struct linrec_args *args)
{
    const struct tiling tiling = lookback_tiling(args, LOOKBACK_ROWS);
    return workspace_size(&tiling);
}

cudaError_t lookback_workspace_init(void *workspace, size_t size, cudaStream_t stream)
{
    return size == 0 ? cudaSuccess : cudaMemsetAsync(workspace, 0xFF, size, stream);
}

cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct tiling *tiling)
{
    const cudaError_t error = linrec_check_args_and_states(args, backward);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    return tiling->num_tiles > 0x7FFFFFFF || args->workspace == NULL || args->workspace_size < workspace_size(tiling)
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
