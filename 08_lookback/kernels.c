/* kernels.c - the table of chapter 08's kernels, and what they are compared with. */
#include "../common/linrec_operation.h"
#include "lookback.h"

/* As in chapter 05 (kernels.c there); the tiles' totals are joined in a few levels more: 32 or, by waves, up to 192 at once,
   and these steps pass over tiles, of which there are fewer than elements. */
static int levels(size_t seq_len)
{
    (void)seq_len;
    return 24;
}

#define KERNEL(name_, idea_) .name = #name_, .idea = idea_, .reverse = true, .levels = levels

const struct linrec_kernel chapter08_kernels[] = {
    {KERNEL(three_pass, "what each tile does, what comes into each, all tiles once more"),
     .forward = lookback_three_pass, .workspace_size = lookback_three_pass_workspace},
    {KERNEL(chained, "one pass; each tile waits for the one before"), .forward = lookback_chained,
     .workspace_size = lookback_workspace},
    {KERNEL(lookback, "one pass; a warp looks back over 32 tiles at once"), .forward = lookback_lookback,
     .workspace_size = lookback_workspace, .is_default = true},
    {KERNEL(waves, "the blocks stay, and tiles wait in shared memory while a warp looks"), .forward = lookback_waves,
     .backward = lookback_waves_backward, .knobs = {{2, 4}, WAVES_MAX_THREADS, WAVES_MAX_STAGES},
     .workspace_size = lookback_workspace, .min_arch = 90},
    {.name = NULL},
};

const struct chapter chapter08 = {
    .name = "08_lookback",
    .operation = &linrec_operation,
    .kernels = chapter08_kernels,
    .compares_with = {{"06_backward", chapter06_kernels, {"default"}}},
};
