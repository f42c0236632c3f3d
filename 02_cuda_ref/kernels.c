/* kernels.c - the table of chapter 02's kernels. */
#include "cuda_ref.h"

#include <stdio.h>

static void owner_one_per_block(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    (void)args, (void)pos;
    snprintf(text, size, "block %zu, thread 0", seq);
}

static void owner_full_blocks(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size)
{
    (void)args, (void)pos;
    snprintf(text, size, "block %zu, thread %zu (lane %zu)", seq / CUDA_REF_THREADS, seq % CUDA_REF_THREADS, seq % 32);
}

const struct linrec_kernel chapter02_kernels[] = {
    {
        .name = "one_per_block",
        .idea = "a block of one thread per sequence",
        .forward = cuda_ref_one_per_block_forward,
        .backward = cuda_ref_one_per_block_backward,
        .reverse = true,
        .max_num_seqs = 0x7FFFFFFF,
        .owner = owner_one_per_block,
    },
    {
        .name = "full_blocks",
        .idea = "blocks of 128 threads, each with a sequence of its own",
        .forward = cuda_ref_full_blocks_forward,
        .backward = cuda_ref_full_blocks_backward,
        .reverse = true,
        .is_default = true,
        .max_num_seqs = (size_t)0x7FFFFFFF * CUDA_REF_THREADS,
        .owner = owner_full_blocks,
    },
    {.name = NULL},
};
