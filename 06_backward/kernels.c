/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 06's kernels. */
#include "../05_pipe/warps.h"
#include "default.h"
#include "gradients.h"
#include "scan.h"

/* As for chapter 05 (kernels.c there); the product that a group hands on rounds once more for each of its elements. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 16;
}

#define KERNEL(name_, idea_)                                                                                           \
    .info.name = #name_, .info.idea = idea_, .reverse = true, .max_num_seqs = 0x7FFFFFFF, .levels = levels
#define FORWARD_ALONE(name_) .forward = scan_##name_, .states = true
#define BOTH(name_) .forward = scan_##name_, .backward = backward_##name_, .states = true

const struct linrec_kernel chapter06_kernels[] = {
    {KERNEL(float4, "a float4 per lane"), FORWARD_ALONE(float4), .info.tunable = {{1, 2}, PIPE_MAX_THREADS, 0}},
    {KERNEL(two_pass, "d_inputs by a scan, then d_coeffs by a second kernel"), .backward = backward_two_pass},
    {KERNEL(prefetch, "a float4 per lane, the next tile prefetched into registers"), BOTH(prefetch),
     .info.tunable = {{1, 2}, PIPE_MAX_THREADS, 0}},
    {KERNEL(async, "cp.async into stages of shared memory"), BOTH(async), .info.min_arch = 80,
     .info.tunable = {{1, 2}, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(tma_evict_last, "TMA bulk copies, with a cache hint: L2 evicts what was read last"), BOTH(tma_evict_last),
     .info.min_arch = 90, .info.tunable = {{2, 4}, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(flat, "each warp by itself, several short sequences side by side"), BOTH(flat),
     .max_seq_len = PIPE_FLAT_MAX_LEN, .info.tunable = {.max_threads = PIPE_MAX_THREADS}},
    {KERNEL(per_warp, "each warp by itself, a whole sequence at once"), FORWARD_ALONE(per_warp),
     .max_seq_len = PIPE_PER_WARP_MAX_LEN, .info.tunable = {{1, 2, 4}, PIPE_MAX_THREADS, 0}},
    {KERNEL(per_block, "each block a whole sequence at once"), BOTH(per_block), .max_seq_len = BLOCK_MAX_LEN,
     .info.tunable = {{1, 2, 4}, PIPE_MAX_THREADS, 0}},
    {KERNEL(default, "flat, per_warp, per_block, float4, prefetch, async or tma_evict_last, by length and chip"),
     BOTH(default), .info.is_default = true},
    {.info.name = NULL},
};
