/* SPDX-License-Identifier: MIT */
/* one_hop_plan.c - see one_hop_plan.h. */
#include "one_hop_plan.h"

#include "lookback.h"

/* From small tiles to large ones, as they were fastest on an H200: one sequence took 6.6 us with 2^16 elements, where a
   lane looks at one tile at most, 7.2 with 2^18, 8.0 with 2^19 (8.4 with tiles of 8192), and 9.7 with 2^20 (10.5 with
   tiles of 4096). */
static const struct {
    int rows, threads;
    unsigned seq_tiles; /* up to so many of a sequence */
} sizes[] = {
    {2, 256, 32},
    {4, 256, 128},
    {4, 512, ONE_HOP_SEQ_TILES},
};

cudaError_t one_hop_plan(const struct linrec_args *args, const struct gpu_info *gpu, int choice,
                         struct one_hop_plan *plan)
{
    const int threads = args->config.threads, rows = args->config.rows;
    const bool is_given = threads != 0 || rows != 0;

    plan->tiling = tiling_of(args, LOOKBACK_LEAST_TILE);
    if (plan->tiling.num_tiles == 0)
        return cudaSuccess;
    if (args->seq_len > ONE_HOP_MAX_LEN || args->num_seqs > ONE_HOP_TILES ||
        (rows != 0 && rows != 1 && rows != 2 && rows != 4) || threads % 32 != 0 || threads < 0 ||
        threads > ONE_HOP_MAX_THREADS)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && gpu->cooperative; i++) {
        plan->rows = rows != 0 ? rows : sizes[i].rows;
        plan->threads = threads != 0 ? threads : sizes[i].threads;
        plan->tiling = tiling_of(args, (size_t)plan->rows * PIPE_ROW * plan->threads / 32);
        if (plan->tiling.seq_tiles <= (is_given ? ONE_HOP_SEQ_TILES : sizes[i].seq_tiles) &&
            plan->tiling.num_tiles <= ONE_HOP_TILES && choice-- == 0)
            return cudaSuccess;
    }
    return cudaErrorNotSupported;
}

cudaError_t one_hop_fit(const void *const of_rows[3], const struct linrec_args *args, const struct gpu_info *gpu,
                        struct one_hop_plan *plan)
{
    cudaError_t error = cudaSuccess;
    bool all_fit = false;
    for (int choice = 0; error == cudaSuccess && !all_fit; choice++) {
        error = one_hop_plan(args, gpu, choice, plan);
        if (error != cudaSuccess || plan->tiling.num_tiles == 0)
            return error;
        error = lookback_all_fit(of_rows[plan->rows / 2], plan->threads, &plan->tiling, gpu, &all_fit);
    }
    return error;
}

size_t lookback_one_hop_workspace(const struct linrec_args *args)
{
    (void)args;
    return ONE_HOP_BYTES;
}
