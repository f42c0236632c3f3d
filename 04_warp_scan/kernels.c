/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 04's kernels. */
#include "../03_tile/tile.h"
#include "warp_scan.h"

/* Five steps in the warp, up to five over the warps, and the ends. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 12;
}

/* What the levels compute in place of the recurrence: nothing comes into an element, into a thread's first, into a
   warp's first. */
static void instead_io_only(const struct linrec_args *args, size_t seq, size_t pos, struct linrec_element *element)
{
    (void)args, (void)seq;
    element->input += pos == 0 ? 1.0 : element->coeff;
    element->coeff = 0.0;
}

static void instead_thread(const struct linrec_args *args, size_t seq, size_t pos, struct linrec_element *element)
{
    (void)seq;
    if (pos != 0 && tile_thread(args->seq_len, pos) != tile_thread(args->seq_len, pos - 1))
        element->coeff = 0.0;
}

static void instead_warp(const struct linrec_args *args, size_t seq, size_t pos, struct linrec_element *element)
{
    (void)seq;
    if (pos != 0 && tile_thread(args->seq_len, pos) / 32 != tile_thread(args->seq_len, pos - 1) / 32)
        element->coeff = 0.0;
}

#define LEVEL(name_, idea_, forward_)                                                                                  \
    .info.name = name_, .info.idea = idea_, .forward = forward_, .max_seq_len = TILE_MAX_LEN,                          \
    .max_num_seqs = 0x7FFFFFFF, .levels = levels, .owner = tile_owner

const struct linrec_kernel chapter04_kernels[] = {
    {LEVEL("io_only", "level 0: loads and stores, adds c to x", warp_scan_io_only_forward), .info.partial = true,
     .instead = instead_io_only},
    {LEVEL("to_thread", "level 1: the recurrence inside each thread", warp_scan_to_thread_forward),
     .info.partial = true, .instead = instead_thread},
    {LEVEL("to_warp", "level 2: and across the lanes of each warp, by shuffles", warp_scan_to_warp_forward),
     .info.partial = true, .instead = instead_warp},
    {LEVEL("to_block", "level 3: and across the warps of the block: complete", warp_scan_to_block_forward),
     .info.is_default = true},
    {.info.name = NULL},
};
