/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 01. */
#include "recurrence.h"

/* An element passes through its own loop and then through the walk over the parts' carries: T steps. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return (int)cpu_threads_count();
}

const struct linrec_kernel chapter01_kernels[] = {
    {
        .info.name = "loop",
        .info.idea = "one element after the other",
        .forward = cpu_loop_forward,
        .backward = cpu_loop_backward,
        .reverse = true,
        .info.is_default = true,
    },
    {
        .info.name = "plain_threads",
        .info.idea = "one part for each core, the carries walked one after the other; forward only",
        .forward = cpu_plain_threads_forward,
        .levels = levels,
        .max_num_seqs = 1024, /* it starts threads for each of them anew, which takes a while */
        .owner = cpu_threads_owner,
    },
    {
        .info.name = "threads",
        .info.idea = "the same in all directions, threads started once for all sequences",
        .forward = cpu_threads_forward,
        .backward = cpu_threads_backward,
        .reverse = true,
        .levels = levels,
        .workspace_size = cpu_threads_workspace,
        .owner = cpu_threads_owner,
    },
    {.info.name = NULL},
};
