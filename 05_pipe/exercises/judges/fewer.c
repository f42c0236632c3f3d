/* SPDX-License-Identifier: MIT */
/* 05.7: the recurrence over sequences of any length, moved with few bytes. */
#include "judge.h"

cudaError_t launch_fewer(int num_seqs, int seq_len, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_fewer((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 512}, {3, 1024}, {2, 128}, {5, 1},    {7, 2},    {7, 3},   {9, 5},   {1, 7},   {4, 127}, {6, 129},
               {5, 510}, {5, 511},  {3, 513}, {3, 1023}, {2, 1537}, {40, 17}, {17, 33}, {9, 257}, {0, 5},   {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
};
