/* SPDX-License-Identifier: MIT */
/* 03.5: the recurrence along the rows of arrays of shape (num_seqs, seq_len). */
#include "judge.h"

cudaError_t launch_barriers(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_barriers((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 128}, {1, 1024}, {2, 4096}, {1, 1}, {3, 2}, {2, 33}, {2, 129}, {2, 385}, {2, 1000}, {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
};
