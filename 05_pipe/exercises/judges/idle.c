/* SPDX-License-Identifier: MIT */
/* 05.5: launches chapter 05's flat, and counts. */
#include "judge.h"
#include "warps.h"
#include "launch.c" /* pipe_config, which the launcher calls */

static cudaError_t launch(const size_t *size, float *const *array)
{
    const struct linrec_args args = {
        .num_seqs = size[0], .seq_len = size[1], .inputs = array[0], .coeffs = array[1], .outputs = array[2]};
    return pipe_flat_forward(&args, NULL);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .launch = launch,
};
