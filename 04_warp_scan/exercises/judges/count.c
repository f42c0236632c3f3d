/* SPDX-License-Identifier: MIT */
/* 04.1: launches chapter 04's block, and counts. */
#include "judge.h"
#include "warp_scan.h"

static cudaError_t launch(const size_t *size, float *const *array)
{
    const struct linrec_args args = {
        .num_seqs = size[0], .seq_len = size[1], .inputs = array[0], .coeffs = array[1], .outputs = array[2]};
    return warp_scan_to_block_forward(&args, NULL);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .launch = launch,
};
