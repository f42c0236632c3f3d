/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 02's kernels. */
#include "cuda_ref.h"

#include <stdio.h>

static void owner_of_one(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    (void)args, (void)pos;
    snprintf(text, size, "block %zu, thread 0", seq);
}

static void owner_of_full(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    (void)args, (void)pos;
    snprintf(text, size, "block %zu, thread %zu (lane %zu)", seq / CUDA_REF_THREADS, seq % CUDA_REF_THREADS, seq % 32);
}

const struct linrec_kernel chapter02_kernels[] = {
    {
        .info.name = "one_per_block",
        .info.idea = "a block of one thread per sequence",
        .forward = cuda_ref_one_per_block_forward,
        .max_num_seqs = CUDA_REF_MAX_BLOCKS,
        .owner = owner_of_one,
    },
    {
        .info.name = "full_blocks",
        .info.idea = "blocks of 128 threads, each with a sequence of its own",
        .forward = cuda_ref_full_blocks_forward,
        .max_num_seqs = (size_t)CUDA_REF_MAX_BLOCKS * CUDA_REF_THREADS,
        .owner = owner_of_full,
    },
    {
        .info.name = "all_ways",
        .info.idea = "the same, also reversed, and the gradients",
        .forward = cuda_ref_all_ways_forward,
        .backward = cuda_ref_all_ways_backward,
        .reverse = true,
        .info.is_default = true,
        .max_num_seqs = (size_t)CUDA_REF_MAX_BLOCKS * CUDA_REF_THREADS,
        .owner = owner_of_full,
    },
    {.info.name = NULL},
};
