/* SPDX-License-Identifier: MIT */
/* persistent_cluster_plan.c - see persistent_cluster.h. */
#include "lookback.h"
#include "persistent_cluster.h"

enum { LINE = 128 / sizeof(float) }; /* elements in a line of the caches */

/* A descriptor of two words for each cluster and round of the ring. */
size_t lookback_persistent_cluster_workspace(const struct linrec_args *args)
{
    (void)args;
    return lookback_workspace_of(2 * (size_t)PC_RING * PC_MAX_CLUSTERS);
}

cudaError_t persistent_cluster_plan(const struct linrec_args *args, bool backward, const struct gpu_info *gpu,
                                    struct persistent_cluster_plan *plan)
{
    const cudaError_t error = linrec_check_args_and_states(args, backward);
    plan->tiling = tiling_of(args, LOOKBACK_LEAST_TILE);
    if (error != cudaSuccess || plan->tiling.num_tiles == 0)
        return error;
    plan->threads = args->config.threads != 0 ? args->config.threads : PC_MAX_THREADS;
    if (args->workspace == NULL || args->workspace_size < lookback_persistent_cluster_workspace(args) ||
        plan->threads % 32 != 0 || plan->threads < 32 || plan->threads > PC_MAX_THREADS)
        return cudaErrorInvalidValue;
    /* Of the gradients' three arrays one has stages for the tiles in registers, too. */
    plan->num_tiles = backward ? 3 * PC_STAGES + PC_TILES : 2 * PC_STAGES;
    plan->shared = plan->num_tiles * sizeof(float) * PC_ROWS * 4 * plan->threads;
    plan->most_shared = gpu->shared_limit > PC_OWN_SHARED ? gpu->shared_limit - PC_OWN_SHARED : 0;
    return gpu->arch < 90 || !gpu->cooperative || plan->shared > plan->most_shared ? cudaErrorNotSupported
                                                                                   : cudaSuccess;
}

cudaError_t persistent_cluster_fit(const struct linrec_args *args, int clusters, struct persistent_cluster_plan *plan)
{
    if (clusters < 1)
        return cudaErrorNotSupported;
    /* [equal_tiles] As few rounds of all clusters as the largest tile allows, and then as many equal cluster tiles as
       fill these rounds: of whole lines of memory, so that no two blocks store to one. */
    const size_t row_len = PC_ROWS * PIPE_ROW, largest = PC_BLOCKS * plan->threads / 32 * row_len;
    const size_t all = clusters < PC_MAX_CLUSTERS ? (size_t)clusters : PC_MAX_CLUSTERS;
    const size_t elems = most_elems(args->seq_len), least = (elems - 1) / largest + 1; /* of a sequence */
    const size_t rounds = (args->num_seqs * least - 1) / all + 1, full = rounds * all / args->num_seqs;
    const size_t tile_len = ((elems - 1) / ((full > least ? full : least) * PC_BLOCKS) / LINE + 1) * LINE;

    /* [count] The last cluster tile of a sequence may be shorter, and its last tiles may have no elements. */
    const size_t seq_cluster_tiles = (elems - 1) / (tile_len * PC_BLOCKS) + 1;
    if (seq_cluster_tiles > 0x7FFFFFFF / PC_BLOCKS / args->num_seqs)
        return cudaErrorInvalidValue;
    const size_t cluster_tiles = seq_cluster_tiles * args->num_seqs;
    plan->tiling = (struct tiling){args->seq_len, (unsigned)(seq_cluster_tiles * PC_BLOCKS),
                                   (unsigned)(cluster_tiles * PC_BLOCKS), (int)tile_len};
    plan->threads = (int)((tile_len - 1) / row_len + 1) * 32;
    plan->blocks = (unsigned)(cluster_tiles < all ? cluster_tiles : all) * PC_BLOCKS;
    plan->shared = plan->num_tiles * sizeof(float) * tile_len;
    return cudaSuccess;
}
