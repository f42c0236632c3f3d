/* SPDX-License-Identifier: MIT */
/* 02.3: launches chapter 02's full_blocks, and counts. */
#include "cuda_ref.h"
#include "judge.h"
#include "../../../cusim/counts.h"

static cudaError_t launch(const size_t *size, float *const *array)
{
    const struct linrec_args args = {
        .num_seqs = size[0], .seq_len = size[1], .inputs = array[0], .coeffs = array[1], .outputs = array[2]};
    return cuda_ref_full_blocks_forward(&args, NULL);
}

/* Who wrote the last element. */
static void count(const size_t *size, float *const *array)
{
    unsigned block = 0, thread = 0;
    char place[256];

    if (sim_last_write(array[2] + size[0] * size[1] - 1, &block, &thread, place, sizeof place)) {
        judge_count("last_block", block);
        judge_count("last_thread", thread);
    }
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .launch = launch,
    .count = count,
};
