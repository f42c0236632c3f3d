/* SPDX-License-Identifier: MIT */
/* 02.6: the recurrence along rows, of arrays in memory of the host, by a program of the answer's own. */
#include "judge.h"

int scan(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return scan(size[0], size[1], array[0], array[1], array[2]) == 0 ? cudaSuccess : cudaErrorUnknown;
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{3, 40}, {1, 1}, {1, 100}, {127, 5}, {128, 3}, {129, 2}, {300, 7}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
    .on_host = true,
};
