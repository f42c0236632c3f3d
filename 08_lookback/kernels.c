/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 08's kernels, and what they are compared with. */
#include "../07_bench/bench.h"
#include "../common/harness/machine.h"
#include "../common/linrec/linrec_operation.h"
#include "cluster_plan.h"
#include "lookback.h"
#include "one_hop_plan.h"
#include "persistent_cluster.h"

/* As in chapter 05 (kernels.c there); the tiles' aggregates are joined in a few levels more, 32 at once, and these
   steps pass over tiles, of which there are fewer than elements. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 24;
}

#define KERNEL(name_, idea_) .info.name = #name_, .info.idea = idea_, .reverse = true, .levels = levels

const struct linrec_kernel chapter08_kernels[] = {
    {KERNEL(three_pass, "what each tile does, what comes into each, all tiles once more"),
     .forward = lookback_three_pass, .workspace_size = lookback_three_pass_workspace},
    {KERNEL(grid_sync, "the same in one launch: all blocks meet at a barrier of the grid, twice"),
     .forward = lookback_grid_sync, .workspace_size = lookback_three_pass_workspace},
    {KERNEL(chained, "one pass; each tile waits for the one before"), .forward = lookback_chained,
     .workspace_size = lookback_workspace},
    {KERNEL(lookback, "one pass; a warp looks back over 32 tiles at once"), .forward = lookback_one_pass,
     .workspace_size = lookback_workspace, .info.tunable = {.rows = {1, 2, 4}}},
    {KERNEL(resident,
            "the same for few tiles: a warp of its own publishes and looks back, no tickets where all blocks fit"),
     .forward = lookback_resident, .backward = lookback_resident_backward, .states = true,
     .workspace_size = lookback_resident_workspace},
    {KERNEL(one_hop,
            "for few tiles: each reads all aggregates before it at once; nothing is cleaned, a launch has a number"),
     .forward = lookback_one_hop, .backward = lookback_one_hop_backward, .states = true, .max_seq_len = ONE_HOP_MAX_LEN,
     .max_num_seqs = ONE_HOP_TILES, .has_room = lookback_one_hop_has_room, .workspace_size = lookback_one_hop_workspace,
     .info.tunable = {{1, 2, 4}, ONE_HOP_MAX_THREADS}},
    {KERNEL(cluster, "the blocks of a sequence write their aggregates into each other's shared memory"),
     .forward = lookback_cluster, .backward = lookback_cluster_backward, .states = true, .max_seq_len = CLUSTER_MAX_LEN,
     .info.min_arch = 90, .info.tunable = {{2, 4}, CLUSTER_MAX_THREADS}},
    {KERNEL(persistent_cluster, "persistent blocks, tiles wait in registers; a cluster of blocks looks back as one"),
     .forward = lookback_persistent_cluster, .backward = lookback_persistent_cluster_backward, .states = true,
     .workspace_size = lookback_persistent_cluster_workspace, .info.min_arch = 90,
     .info.tunable = {.max_threads = PC_MAX_THREADS}},
    {KERNEL(default,
            "cluster, one_hop, resident, persistent_cluster or an earlier chapter's, by number, length and chip"),
     .forward = linrec_forward, .backward = linrec_backward, .states = true, .workspace_size = linrec_workspace,
     .info.is_default = true},
    {.info.name = NULL},
};

/* On a GPU from one sequence to many, in steps of four, up to 2^28 elements; the simulator a few tiles. */
static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    const size_t multiprocessors = (size_t)machine->device.multiProcessorCount, most = (size_t)1 << 28;
    const size_t num_seqs[] = {1, 2, 8, 32, multiprocessors, 1000, 100 * multiprocessors};
    const size_t lengths[] = {16, 1001, 4096, 20001};
    size_t sizes[MAX_SIZES] = {0};
    if (machine->backend != ON_CUDA) {
        sizes[NUM_SEQS] = 2;
        for (int i = 0; i < 4; i++) {
            sizes[SEQ_LEN] = lengths[i];
            shapes_add(shapes, sizes);
        }
        return;
    }
    for (int i = 0; i < 7; i++) {
        sizes[NUM_SEQS] = num_seqs[i];
        for (sizes[SEQ_LEN] = 16; sizes[NUM_SEQS] * sizes[SEQ_LEN] <= most; sizes[SEQ_LEN] *= 4)
            shapes_add(shapes, sizes);
    }
}

const struct chapter chapter08 = {
    .name = "08_lookback",
    .operation = &linrec_operation,
    .kernels = chapter08_kernels,
    .compares_with = {{"06_backward", chapter06_kernels, {"default"}},
                      {"07_bench", chapter07_kernels, {"cub_scan", "cub_by_key"}}},
    .default_shapes = default_shapes,
};
