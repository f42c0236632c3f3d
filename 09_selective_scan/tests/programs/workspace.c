/* SPDX-License-Identifier: MIT */
/* workspace.c - how large the workspace of the backward pass is, over many shapes, for up to 16 states: at most a quarter
   of u's bytes, or SMALL where that is more, and what each sequence and segment has once: three floats a state
   and two more. For Mamba's shape it is at most 64 MB in all. Prints TAP. */
#include <stdio.h>

#include "../../kernels/kernels.h"
#include "../../kernels/launch.h"

enum { SMALL = SELECTIVE_SMALL + (5 << 20) }; /* and a window of the fewest steps in each segment */

static const int multiprocessors[] = {40, 108, 132};

/* Looks at all types and counts of states of a shape; says what is too large. */
static void check(size_t batch, size_t channels, size_t groups, size_t seq_len, int *number)
{
    bool fits = true;
    for (size_t states = 1; states <= FUSED_STATES; states++)
        for (int type = 0; type < NUM_DTYPES; type++) {
            const struct selective_args args = {.batch = batch,
                                                .channels = channels,
                                                .states = states,
                                                .groups = groups,
                                                .seq_len = seq_len,
                                                .dtype = (enum dtype)type};
            const size_t u = batch * channels * seq_len * dtype_bytes(args.dtype),
                         quarter = u / 4 > SMALL ? u / 4 : SMALL;
            for (int chip = 0; chip < 3; chip++) {
                const size_t segments = selective_fused_segments(&args, multiprocessors[chip]);
                const size_t most = quarter + segments * batch * channels * (3 * states + 2) * sizeof(float);
                const size_t is = selective_fused_parts_of(&args, segments).bytes;
                if (is > most)
                    printf("# %zu states, type %d, %d multiprocessors: %zu bytes, at most %zu\n", states, type,
                           multiprocessors[chip], is, most),
                        fits = false;
            }
        }
    printf("%sok %d - %zu x %zu channels in %zu groups, %zu steps\n", fits ? "" : "not ", ++*number, batch, channels,
           groups, seq_len);
}

int main(void)
{
    const size_t batches[] = {1, 2, 8, 64}, all_channels[] = {64, 66, 768, 2048, 5120},
                 lengths[] = {512, 1000, 2048, 8192, 65536};
    int number = 0;
    for (int b = 0; b < 4; b++)
        for (int c = 0; c < 5; c++)
            for (int l = 0; l < 5; l++) {
                check(batches[b], all_channels[c], 1, lengths[l], &number);
                check(batches[b], all_channels[c], 2, lengths[l], &number);
            }
    const struct selective_args mamba = {.batch = 8, .channels = 2048, .states = 16, .groups = 1, .seq_len = 8192};
    const size_t bytes = selective_default_workspace(&mamba, true);
    printf("%sok %d - 8 x 2048 channels with 16 states, 8192 steps: %zu bytes\n", bytes <= 64000000 ? "" : "not ",
           ++number, bytes);
    printf("1..%d\n", number);
    return 0;
}
