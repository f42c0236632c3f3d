/* SPDX-License-Identifier: MIT */
/* 06.1: launches the gradients of chapter 06's prefetch, and counts. */
#include "gradients.h"
#include "judge.h"
#include "../../../cusim/counts.h"

#include "../../../05_pipe/launch.c" /* pipe_config, which the launcher calls */

cudaError_t backward_check(const struct linrec_args *args, bool backward, const struct launch_config *config)
{
    (void)config;
    return linrec_check_args(args, backward);
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    const struct linrec_args args = {.num_seqs = size[0],
                                     .seq_len = size[1],
                                     .d_outputs = array[0],
                                     .coeffs = array[1],
                                     .outputs = array[2],
                                     .d_inputs = array[3],
                                     .d_coeffs = array[4]};
    return backward_prefetch(&args, NULL);
}

/* Who wrote the first element of the last sequence but one, or of the only one. */
static void count(const size_t *size, float *const *array)
{
    const size_t seq = size[0] < 2 ? 0 : size[0] - 2;
    unsigned block = 0, thread = 0;

    if (sim_last_write(array[3] + seq * size[1], &block, &thread, NULL, 0))
        judge_count("writer", thread);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .arrays = {{"d_outputs", JUDGE_VALUES, NULL},
               {"coeffs", JUDGE_COEFFS, NULL},
               {"outputs", JUDGE_VALUES, NULL},
               {"d_inputs", JUDGE_OUTPUTS, NULL},
               {"d_coeffs", JUDGE_OUTPUTS, NULL}},
    .launch = launch,
    .count = count,
};
