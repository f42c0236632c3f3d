/* kernels.c - the table of chapter 05's kernels. */
#include "pipe.h"

/* The rows of a warp and the warps of a block are joined in a few levels, and every tile adds one more; but each of
   these steps passes over elements, at most as many steps as elements, so they are counted as the steps of the loop
   are. What remains are the levels of one tile: five in the warp, four over 16 warps, four rows, and the ends. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 16;
}

#define KERNEL(name_, idea_)                                                                                           \
    .name = #name_, .idea = idea_, .forward = pipe_##name_##_forward, .max_num_seqs = 0x7FFFFFFF, .levels = levels
#define ROWS                                                                                                           \
    {                                                                                                                  \
        1, 2, 4                                                                                                        \
    }

const struct linrec_kernel chapter05_kernels[] = {
    {KERNEL(blocked, "each thread loads its own consecutive elements"), .knobs = {.max_threads = PIPE_MAX_THREADS}},
    {KERNEL(staged, "coalesced through shared memory, then each thread its own"),
     .knobs = {.max_threads = PIPE_MAX_THREADS}},
    {KERNEL(float4, "a float4 per lane: coalesced, and each thread its own"), .knobs = {ROWS, PIPE_MAX_THREADS, 0}},
    {KERNEL(ahead, "the same, the next tile loaded ahead"), .knobs = {ROWS, PIPE_MAX_THREADS, 0}},
    {KERNEL(async, "cp.async into stages of shared memory"), .min_arch = 80,
     .knobs = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(copy_only, "async's copies without its work"), .partial = true, .min_arch = 80,
     .knobs = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(work_only, "async's work without its copies"), .partial = true, .min_arch = 80,
     .knobs = {{1, 2}, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(bulk, "the bulk copy engine into stages of shared memory"), .min_arch = 90,
     .knobs = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(bulk_last, "the same, and what was read leaves the L2 cache last"), .min_arch = 90,
     .knobs = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(flat, "each warp by itself, several short sequences side by side"), .max_seq_len = PIPE_FLAT_MAX_LEN,
     .knobs = {.max_threads = PIPE_MAX_THREADS}},
    {KERNEL(warp, "each warp by itself, a whole sequence at once"), .max_seq_len = PIPE_WARP_MAX_LEN,
     .knobs = {ROWS, PIPE_MAX_THREADS, 0}},
    {KERNEL(default, "flat, warp, float4, ahead, bulk_last or async, by length and chip"), .is_default = true},
    {.name = NULL},
};
