/* kernels.c - the table of chapter 04's kernels. */
#include "../03_tile/tile.h"
#include "warp_scan.h"

/* Five steps in the warp, up to five over the warps, and the ends. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 12;
}

#define LEVEL(name_, idea_, forward_)                                                                                  \
    .name = name_, .idea = idea_, .forward = forward_, .max_seq_len = TILE_MAX_LEN, .max_num_seqs = 0x7FFFFFFF,        \
    .levels = levels, .owner = tile_owner

const struct linrec_kernel chapter04_kernels[] = {
    {LEVEL("io_only", "level 0: loads and stores, adds c to x", warp_scan_io_only_forward), .partial = true},
    {LEVEL("thread", "level 1: the recurrence inside each thread", warp_scan_thread_forward), .partial = true},
    {LEVEL("warp", "level 2: and across the lanes of each warp, by shuffles", warp_scan_warp_forward), .partial = true},
    {LEVEL("block", "level 3: and across the warps of the block: complete", warp_scan_block_forward),
     .is_default = true},
    {.name = NULL},
};
