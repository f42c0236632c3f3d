/* kernels.c - the table of chapter 01. */
#include "recurrence.h"

/* An element passes through its own loop and then through the walk over the parts' carries: T steps. */
static int levels_two_threads(size_t seq_len)
{
    (void)seq_len;
    return 2;
}

static int levels_threads(size_t seq_len)
{
    (void)seq_len;
    return (int)cpu_threads_count();
}

const struct linrec_kernel chapter01_kernels[] = {
    {
        .name = "loop",
        .idea = "one element after the other",
        .forward = cpu_loop_forward,
        .backward = cpu_loop_backward,
        .reverse = true,
        .is_default = true,
    },
    {
        .name = "two_threads",
        .idea = "two halves at once, then the second adds what the first carries over",
        .forward = cpu_two_threads_forward,
        .backward = cpu_two_threads_backward,
        .reverse = true,
        .levels = levels_two_threads,
        .workspace_size = cpu_two_threads_workspace,
        .owner = cpu_two_threads_owner,
    },
    {
        .name = "threads",
        .idea = "one part for each core, the carries walked one after the other",
        .forward = cpu_threads_forward,
        .backward = cpu_threads_backward,
        .reverse = true,
        .levels = levels_threads,
        .workspace_size = cpu_threads_workspace,
        .owner = cpu_threads_owner,
    },
    {.name = NULL},
};
