/* SPDX-License-Identifier: MIT */
/* kernels.c - chapter 07's own kernels, and what it compares. */
#include "../02_cuda_ref/cuda_ref.h"
#include "../03_tile/tile.h"
#include "../04_warp_scan/warp_scan.h"
#include "../05_pipe/pipe.h"
#include "../06_backward/backward.h"
#include "../common/harness/machine.h"
#include "../common/linrec/linrec_operation.h"
#include "bench.h"

#ifndef CUSIM
/* CUB scans tiles in shared memory, and the tiles' prefixes by look-back: as many levels as a tree over all elements
   has. */
static int levels(size_t seq_len)
{
    int levels = 32;
    for (size_t d = 1; d < seq_len; d *= 2)
        levels++;
    return levels;
}

/* Of one tile, as in chapter 05: five in the warp, eight over the warps, the ends; the tiles count as the loop does. */
static int levels_of_block(size_t seq_len)
{
    (void)seq_len;
    return 16;
}
#endif

const struct linrec_kernel chapter07_kernels[] = {
    {
        .info.name = "empty",
        .info.idea = "a kernel that does nothing, in one block: a launch alone",
        .forward = empty_forward,
        .info.partial = true,
        .info.moves_nothing = true,
    },
#ifndef CUSIM
    {
        .info.name = "cub_scan",
        .info.idea = "CUB's DeviceScan over pairs, one sequence",
        .forward = cub_scan_forward,
        .reverse = true,
        .max_elems = 0x7FFFFFFF,
        .max_num_seqs = 1,
        .levels = levels,
        .workspace_size = cub_scan_workspace,
    },
    {
        .info.name = "cub_by_key",
        .info.idea = "CUB's DeviceScan by key over pairs, the key is the sequence",
        .forward = cub_by_key_forward,
        .reverse = true,
        .finite_products = true, /* a thread's part begins anywhere in a sequence */
        .max_elems = 0x7FFFFFFF,
        .levels = levels,
        .workspace_size = cub_by_key_workspace,
    },
    {
        .info.name = "cub_block_scan",
        .info.idea = "CUB's BlockScan over pairs, a block for each sequence, tile after tile",
        .forward = cub_block_scan_forward,
        .max_num_seqs = 0x7FFFFFFF,
        .levels = levels_of_block,
    },
#endif
    {.info.name = NULL},
};

/* On a GPU from one sequence to many; else as everywhere. */
static void default_shapes(const struct machine *machine, struct shapes *shapes)
{
    const size_t multiprocessors = (size_t)machine->device.multiProcessorCount;
    const size_t num_seqs[] = {1, 8, multiprocessors, 100 * multiprocessors};
    if (machine->backend != ON_CUDA) {
        linrec_operation.default_shapes(machine, shapes);
        return;
    }
    for (int i = 0; i < 4; i++)
        if (i == 0 || num_seqs[i] > num_seqs[i - 1]) /* else a very small GPU */
            linrec_lengths(machine, num_seqs[i], shapes);
}

const struct chapter chapter07 = {
    .name = "07_bench",
    .operation = &linrec_operation,
    .kernels = chapter07_kernels,
    .compares_with = {{"02_cuda_ref", chapter02_kernels, {NULL}},
                      {"03_tile", chapter03_kernels, {NULL}},
                      {"04_warp_scan", chapter04_kernels, {NULL}},
                      {"05_pipe", chapter05_kernels, {NULL}},
                      {"06_backward", chapter06_kernels, {NULL}}},
    .default_shapes = default_shapes,
};
