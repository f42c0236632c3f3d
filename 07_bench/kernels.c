/* kernels.c - chapter 07's own kernels, and the table of all chapters. */
#include <stdio.h>
#include <stdlib.h>

#include "../02_cuda_ref/cuda_ref.h"
#include "../03_tile/tile.h"
#include "../04_warp_scan/warp_scan.h"
#include "../05_pipe/pipe.h"
#include "../06_backward/backward.h"
#include "bench.h"

/* What is compared. A new chapter is a line here and its header above. */
static const struct linrec_chapter chapters[] = {
    {.name = "02_cuda_ref", .kernels = chapter02_kernels},  {.name = "03_tile", .kernels = chapter03_kernels},
    {.name = "04_warp_scan", .kernels = chapter04_kernels}, {.name = "05_pipe", .kernels = chapter05_kernels},
    {.name = "06_backward", .kernels = chapter06_kernels},
};
enum { NUM_CHAPTERS = sizeof chapters / sizeof chapters[0] };

#ifndef LINREC_SIM
/* CUB scans tiles in shared memory, and the tiles' prefixes by look-back: as many levels as a tree over all has. */
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
        .name = "empty",
        .idea = "a kernel that does nothing, in one block: a launch alone",
        .forward = empty_forward,
        .partial = true,
        .moves_nothing = true,
    },
#ifndef LINREC_SIM
    {
        .name = "cub_scan",
        .idea = "CUB's DeviceScan over pairs, one sequence",
        .forward = cub_scan_forward,
        .reverse = true,
        .max_elems = 0x7FFFFFFF,
        .max_num_seqs = 1,
        .levels = levels,
        .workspace_size = cub_scan_workspace,
    },
    {
        .name = "cub_by_key",
        .idea = "CUB's DeviceScan by key over pairs, the key is the sequence",
        .forward = cub_by_key_forward,
        .reverse = true,
        .max_elems = 0x7FFFFFFF,
        .levels = levels,
        .workspace_size = cub_by_key_workspace,
    },
    {
        .name = "cub_block_scan",
        .idea = "CUB's BlockScan over pairs, a block for each sequence, tile after tile",
        .forward = cub_block_scan_forward,
        .max_num_seqs = 0x7FFFFFFF,
        .levels = levels_of_block,
    },
#endif
    {.name = NULL},
};

static size_t count(const struct linrec_kernel *kernels)
{
    size_t number = 0;
    while (kernels[number].name != NULL)
        number++;
    return number;
}

const struct linrec_kernel *bench_kernels(void)
{
    static struct linrec_kernel *all;
    struct linrec_kernel *last_default = NULL, *next;
    size_t total = count(chapter07_kernels) + 1;

    if (all != NULL)
        return all;
    for (int i = 0; i < NUM_CHAPTERS; i++)
        total += count(chapters[i].kernels);
    next = all = calloc(total, sizeof *all);
    for (int i = 0; i < NUM_CHAPTERS && all != NULL; i++)
        for (const struct linrec_kernel *kernel = chapters[i].kernels; kernel->name != NULL; kernel++, next++) {
            char *name = NULL;
            if (asprintf(&name, "%s/%s", chapters[i].name, kernel->name) < 0)
                abort();
            *next = *kernel;
            next->name = name;
            next->chapter = chapters[i].name;
            next->is_default = false;
            if (kernel->is_default)
                last_default = next;
        }
    if (last_default == NULL)
        abort(); /* out of memory, at the very start */
    last_default->is_default = true;
    for (const struct linrec_kernel *kernel = chapter07_kernels; kernel->name != NULL; kernel++)
        *next++ = *kernel;
    return all;
}
