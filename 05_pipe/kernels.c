/* SPDX-License-Identifier: MIT */
/* kernels.c - the table of chapter 05's kernels. */
#include "default.h"
#include "stages.h"
#include "tiles.h"
#include "warps.h"

/* The rows of a warp and the warps of a block are joined in a few levels, and every tile adds one more; but each of
   these steps passes over elements, at most as many steps as elements, so they are counted as the steps of the loop
   are. What remains are the levels of one tile: five in the warp, four over 16 warps, four rows, and the ends. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 16;
}

/* What copy_only and work_only compute in place of the recurrence: inputs plus coefficients; and the first tile again
   and again, of which only the last one is stored. Tiles are counted from the multiple of 4 at or before the
   sequence. */
static void instead_copy_only(const struct linrec_args *args, size_t seq, size_t pos, struct linrec_element *element)
{
    (void)args, (void)seq, (void)pos;
    element->input += element->coeff;
    element->coeff = 0.0;
}

static void instead_work_only(const struct linrec_args *args, size_t seq, size_t pos, struct linrec_element *element)
{
    const struct launch_config config = pipe_config(args, 2, 256, 3);
    const size_t tile_len = (size_t)config.threads * config.rows * 4, start = seq * args->seq_len, begin = start % 4;
    const size_t at = (begin + pos) % tile_len; /* in the tile, and so in the first one */
    element->stored = (begin + pos) / tile_len == (begin + args->seq_len - 1) / tile_len;
    element->coeff = at < begin ? 1.0 : args->coeffs[start + at - begin];
    element->input = at < begin ? 0.0 : args->inputs[start + at - begin];
}

#define KERNEL(name_, idea_)                                                                                           \
    .info.name = #name_, .info.idea = idea_, .forward = pipe_##name_##_forward, .max_num_seqs = 0x7FFFFFFF,            \
    .levels = levels
#define ROWS                                                                                                           \
    {                                                                                                                  \
        1, 2, 4                                                                                                        \
    }

const struct linrec_kernel chapter05_kernels[] = {
    {KERNEL(blocked, "each thread loads its own consecutive elements"),
     .info.tunable = {.max_threads = PIPE_MAX_THREADS}},
    {KERNEL(staged, "coalesced through shared memory, then each thread its own elements"),
     .info.tunable = {.max_threads = PIPE_MAX_THREADS}},
    {KERNEL(float4, "a float4 per lane: coalesced, and each thread its own elements"),
     .info.tunable = {ROWS, PIPE_MAX_THREADS, 0}},
    {KERNEL(prefetch, "the same, and prefetches the next tile into registers"),
     .info.tunable = {ROWS, PIPE_MAX_THREADS, 0}},
    {KERNEL(async, "cp.async into stages of shared memory"), .info.min_arch = 80,
     .info.tunable = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(copy_only, "async's copies without its work"), .info.partial = true, .instead = instead_copy_only,
     .info.min_arch = 80, .info.tunable = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(work_only, "async's work without its copies"), .info.partial = true, .instead = instead_work_only,
     .info.min_arch = 80, .info.tunable = {{1, 2}, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(tma, "TMA bulk copies into stages of shared memory"), .info.min_arch = 90,
     .info.tunable = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(tma_evict_last, "the same, with a cache hint: L2 evicts what was read last"), .info.min_arch = 90,
     .info.tunable = {ROWS, PIPE_MAX_THREADS, PIPE_MAX_STAGES}},
    {KERNEL(flat, "each warp by itself, several short sequences side by side"), .max_seq_len = PIPE_FLAT_MAX_LEN,
     .info.tunable = {.max_threads = PIPE_MAX_THREADS}},
    {KERNEL(per_warp, "each warp by itself, a whole sequence at once"), .max_seq_len = PIPE_PER_WARP_MAX_LEN,
     .info.tunable = {ROWS, PIPE_MAX_THREADS, 0}},
    {KERNEL(default, "flat, per_warp, float4, prefetch, tma_evict_last or async, by length and chip"),
     .info.is_default = true},
    {.info.name = NULL},
};
