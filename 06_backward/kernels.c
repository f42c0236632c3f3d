/* kernels.c - the table of chapter 06's kernels. */
#include "backward.h"

/* As for chapter 05 (kernels.c there); the product that a group hands on rounds once more for each of its elements. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 16;
}

#define MOVEMENT(name_, idea_)                                                                                         \
    .name = #name_, .idea = idea_, .forward = scan_##name_, .backward = backward_##name_, .reverse = true,             \
    .max_num_seqs = 0x7FFFFFFF, .levels = levels

const struct linrec_kernel chapter06_kernels[] = {
    {.name = "two_pass",
     .idea = "d_inputs by a scan, then d_coeffs by a second kernel",
     .backward = backward_two_pass,
     .reverse = true,
     .max_num_seqs = 0x7FFFFFFF,
     .levels = levels},
    {MOVEMENT(vector, "a float4 per lane, the next tile loaded ahead")},
    {MOVEMENT(async, "cp.async into stages of shared memory"), .min_arch = 80},
    {MOVEMENT(bulk, "the bulk copy engine into stages of shared memory"), .min_arch = 90},
    {MOVEMENT(bulk_last, "the same, and what was read leaves the L2 cache last"), .min_arch = 90},
    {MOVEMENT(flat, "each warp by itself, several short sequences in a tile"), .max_seq_len = PIPE_FLAT_MAX_LEN},
    {MOVEMENT(default, "flat, warp, vector, async or bulk_last, by length and chip"), .is_default = true},
    {.name = NULL},
};
