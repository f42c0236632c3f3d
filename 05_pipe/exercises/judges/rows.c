/* SPDX-License-Identifier: MIT */
/* 05.1: launches chapter 05's float4 for one sequence, with so many rows for each warp, and counts. */
#include "judge.h"
#include "tiles.h"
#include "launch.c" /* pipe_config and pipe_check, which the launcher calls */

static cudaError_t launch(const size_t *size, float *const *array)
{
    const struct linrec_args args = {.num_seqs = 1,
                                     .seq_len = size[1],
                                     .inputs = array[0],
                                     .coeffs = array[1],
                                     .outputs = array[2],
                                     .config = {.rows = (int)size[0]}};
    return pipe_float4_forward(&args, NULL);
}

const struct judge judge = {
    .sizes = {"rows", "seq_len"},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .launch = launch,
};
