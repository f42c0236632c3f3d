/* SPDX-License-Identifier: MIT */
/* launch.c - what the launchers of one pass share: tiles, workspace, checks. See lookback.h. */
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

size_t linrec_workspace(const struct linrec_args *args)
{
    const size_t descriptors = lookback_workspace(args), ring = lookback_persistent_cluster_workspace(args);
    return descriptors > ring ? descriptors : ring;
}

cudaError_t lookback_check(const struct linrec_args *args, bool backward, const struct tiling *tiling)
{
    const cudaError_t error = linrec_check_args(args, backward);
    if (error != cudaSuccess || args->num_seqs == 0 || args->seq_len == 0)
        return error;
    return tiling->num_tiles > 0x7FFFFFFF || args->workspace == NULL || args->workspace_size < workspace_size(tiling)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

cudaError_t lookback_all_fit(const void *kernel, int threads, const struct tiling *tiling, bool *all_fit)
{
    struct gpu_info gpu;
    int blocks = 0; /* on a multiprocessor */
    cudaError_t error = gpu_info_read(&gpu);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
    *all_fit = error == cudaSuccess && tiling->num_tiles <= (unsigned)(blocks * gpu.multiprocessors);
    return error;
}
