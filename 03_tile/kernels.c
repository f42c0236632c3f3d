/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 03's kernels. */
#include "tile.h"

#include <stdio.h>

/* An element passes a step of the walk for each part behind its own, and each part has an element of its own: no more
   additions than in the plain loop, but for the last one. */
static int levels_serial(size_t seq_len)
{
    (void)seq_len;
    return 2;
}

static int levels_shared(size_t seq_len)
{
    int levels = 2;
    for (size_t d = 1; d < tile_threads(seq_len); d *= 2)
        levels++;
    return levels;
}

size_t tile_thread(size_t seq_len, size_t pos)
{
    const size_t threads = tile_threads(seq_len), part = seq_len / threads, longer = seq_len % threads;
    return pos < longer * (part + 1) ? pos / (part + 1) : longer + (pos - longer * (part + 1)) / part;
}

void tile_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    snprintf(text, size, "block %zu, thread %zu of %u", seq, tile_thread(args->seq_len, pos),
             tile_threads(args->seq_len));
}

const struct linrec_kernel chapter03_kernels[] = {
    {
        .info.name = "serial",
        .info.idea = "one thread combines the threads' results, one after the other",
        .forward = tile_serial_forward,
        .max_seq_len = TILE_MAX_LEN,
        .max_num_seqs = 0x7FFFFFFF,
        .levels = levels_serial,
        .owner = tile_owner,
    },
    {
        .info.name = "shared",
        .info.idea = "all threads combine them in shared memory, two barriers per step",
        .forward = tile_shared_forward,
        .info.is_default = true,
        .max_seq_len = TILE_MAX_LEN,
        .max_num_seqs = 0x7FFFFFFF,
        .levels = levels_shared,
        .owner = tile_owner,
    },
    {.info.name = NULL},
};
