/* SPDX-License-Identifier: MIT */
/* 04.2: the recurrence over rows of at most 32 elements. */
#include "judge.h"

cudaError_t launch_scan(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_scan((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 32}, {1, 1}, {2, 2}, {3, 7}, {5, 16}, {4, 17}, {3, 31}, {1, 0}, {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
};
