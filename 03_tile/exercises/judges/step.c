/* SPDX-License-Identifier: MIT */
/* 03.2: each element combined with the one before. */
#include "judge.h"

JUDGE_FUNCTION(launch_step, int)

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0] * size[1]; i++)
        array[2][i] = i % size[1] == 0 ? array[0][i] : array[0][i - 1] * array[1][i] + array[0][i];
}

static size_t two(const size_t *size)
{
    (void)size;
    return 2;
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 64}, {4, 1024}, {1, 1}, {3, 2}, {2, 31}, {2, 33}, {3, 100}, {2, 1000}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = two,
    .is_unused = judge_is_first,
    .launch = launch,
};
