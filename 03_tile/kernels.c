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

void tile_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    const size_t threads = tile_threads(args->seq_len), part = args->seq_len / threads,
                 longer = args->seq_len % threads;
    const size_t thread = pos < longer * (part + 1) ? pos / (part + 1) : longer + (pos - longer * (part + 1)) / part;
    snprintf(text, size, "block %zu, thread %zu of %zu", seq, thread, threads);
}

const struct linrec_kernel chapter03_kernels[] = {
    {
        .name = "serial",
        .idea = "one thread combines the threads' results, one after the other",
        .forward = tile_serial_forward,
        .max_seq_len = TILE_MAX_LEN,
        .max_num_seqs = 0x7FFFFFFF,
        .levels = levels_serial,
        .owner = tile_owner,
    },
    {
        .name = "shared",
        .idea = "all threads combine them in shared memory, two barriers per step",
        .forward = tile_shared_forward,
        .is_default = true,
        .max_seq_len = TILE_MAX_LEN,
        .max_num_seqs = 0x7FFFFFFF,
        .levels = levels_shared,
        .owner = tile_owner,
    },
    {.name = NULL},
};
