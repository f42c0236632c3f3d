/* SPDX-License-Identifier: MIT */
/* 05.4: the recurrence over sequences whose length is a multiple of 4. */
#include "judge.h"

cudaError_t launch_stages(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_stages((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes =
        {{1, 512}, {2, 1024}, {1, 4}, {5, 8}, {3, 508}, {3, 516}, {2, 1000}, {2, 1540}, {1, 4096}, {0, 8}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
};
