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

#define MOVEMENT(name_, idea_, forward_)                                                                               \
    .name = name_, .idea = idea_, .forward = forward_, .max_num_seqs = 0x7FFFFFFF, .levels = levels

const struct linrec_kernel chapter05_kernels[] = {
    {MOVEMENT("blocked", "each thread loads its own consecutive elements", pipe_blocked_forward)},
    {MOVEMENT("staged", "coalesced through shared memory, then each thread its own", pipe_staged_forward)},
    {MOVEMENT("vector", "a float4 per lane, the next tile loaded ahead", pipe_vector_forward)},
    {MOVEMENT("async", "cp.async into stages of shared memory", pipe_async_forward), .min_arch = 80},
    {MOVEMENT("bulk", "the bulk copy engine into stages of shared memory", pipe_bulk_forward), .min_arch = 90},
    {MOVEMENT("bulk_first", "the same, and what was read leaves the L2 cache first", pipe_bulk_first_forward),
     .min_arch = 90},
    {MOVEMENT("bulk_last", "the same, and what was read leaves the L2 cache last", pipe_bulk_last_forward),
     .min_arch = 90},
    {MOVEMENT("flat", "each warp by itself, several short sequences in a tile", pipe_flat_forward),
     .max_seq_len = PIPE_FLAT_MAX_LEN},
    {MOVEMENT("warp", "each warp by itself, a whole sequence at once", pipe_warp_forward),
     .max_seq_len = PIPE_WARP_MAX_LEN},
    {MOVEMENT("default", "flat, warp, vector, bulk_last or async, by length and chip", pipe_default_forward),
     .is_default = true},
    {.name = NULL},
};
