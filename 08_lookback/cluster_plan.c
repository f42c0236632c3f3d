/* SPDX-License-Identifier: MIT */
/* cluster_plan.c - see cluster_plan.h. */
#include "cluster_plan.h"

cudaError_t cluster_plan(const struct linrec_args *args, unsigned most_blocks, const struct gpu_info *gpu,
                         struct cluster_plan *plan)
{
    plan->tiling = tiling_of(args, LOOKBACK_LEAST_TILE);
    if (plan->tiling.num_tiles == 0)
        return cudaSuccess;

    /* [blocks] As a prototype was fastest on an H200: more blocks cost less than tiles twice as
       long, except for the gradients of long sequences. A few sequences have 16 blocks each, as long as all of them
       have room. */
    const bool is_few = args->num_seqs <= CLUSTER_FEW;
    const size_t elems = most_elems(args->seq_len), two_rows = 2 * PIPE_ROW * 256 / 32;
    const size_t blocks_of_two = is_few ? CLUSTER_MAX_BLOCKS : CLUSTER_MAX_BLOCKS / 2;
    const size_t blocks_of_four = is_few ? CLUSTER_MAX_BLOCKS : most_blocks;
    const int threads = args->config.threads, rows = args->config.rows;
    plan->rows = rows != 0 ? rows : elems <= blocks_of_two * two_rows ? 2 : 4;
    plan->threads = threads != 0 ? threads : elems <= blocks_of_four * two_rows * plan->rows / 2 ? 256 : 512;

    /* [check] What it says must fit. */
    if ((plan->rows != 2 && plan->rows != 4) || plan->threads % 32 != 0 || plan->threads < 32 ||
        plan->threads > CLUSTER_MAX_THREADS || args->seq_len > CLUSTER_MAX_LEN)
        return cudaErrorInvalidValue;
    plan->tiling = tiling_of(args, (size_t)plan->rows * PIPE_ROW * plan->threads / 32);
    if (plan->tiling.num_tiles > 0x7FFFFFFF || plan->tiling.seq_tiles > CLUSTER_MAX_BLOCKS)
        return cudaErrorInvalidValue;
    return gpu->arch < 90 ? cudaErrorNotSupported : cudaSuccess;
}
