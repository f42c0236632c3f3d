/* SPDX-License-Identifier: MIT */
/* 04.5: the last output of each sequence. */
#include "judge.h"

JUDGE_FUNCTION(launch_last, int)

static size_t num_seqs(const size_t *size)
{
    return size[0];
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t seq = 0; seq < size[0]; seq++) {
        double y = 0.0;
        for (size_t i = seq * size[1]; i < (seq + 1) * size[1]; i++)
            y = i == seq * size[1] ? array[0][i] : y * array[1][i] + array[0][i];
        array[2][seq] = y;
    }
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes =
        {{1, 32}, {1, 2}, {4, 3}, {3, 1}, {2, 31}, {5, 33}, {1, 64}, {7, 100}, {2, 1000}, {9, 17}, {3, 0}, {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"last", JUDGE_OUTPUTS, num_seqs}},
    .reference = reference,
    .is_unused = judge_is_first,
    .launch = launch,
};
