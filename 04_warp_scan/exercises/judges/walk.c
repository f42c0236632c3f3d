/* SPDX-License-Identifier: MIT */
/* 04.4: the recurrence over rows of any length. */
#include "judge.h"

cudaError_t launch_walk(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_walk((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 32}, {1, 74}, {3, 1}, {2, 31}, {2, 33}, {2, 64}, {3, 65}, {2, 1000}, {1, 0}, {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
};
