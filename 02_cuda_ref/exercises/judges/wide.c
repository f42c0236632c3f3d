/* SPDX-License-Identifier: MIT */
/* 02.5: the recurrence along the rows of arrays of shape (num_seqs, seq_len). */
#include "judge.h"

cudaError_t launch_wide(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_wide(size[0], size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 4}, {3, 16}, {128, 64}, {1, 1}, {5, 2}, {5, 3}, {129, 5}, {3, 1001}, {3, 1002}, {3, 1000}, {0, 4}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
};
