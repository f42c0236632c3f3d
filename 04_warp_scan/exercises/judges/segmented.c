/* SPDX-License-Identifier: MIT */
/* 04.3: the recurrence over rows of at most 32 elements, several in a warp. */
#include "judge.h"

cudaError_t launch_segmented(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_segmented((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{8, 8}, {2, 5}, {6, 5}, {13, 5}, {40, 1}, {33, 3}, {3, 16}, {3, 17}, {3, 31}, {2, 32}, {1, 0}, {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
};
