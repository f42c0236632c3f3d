/* SPDX-License-Identifier: MIT */
/* 03.4: of each row the last output of the recurrence. */
#include "judge.h"

JUDGE_FUNCTION(launch_last, int)

static void reference(const size_t *size, double *const *array)
{
    for (size_t s = 0; size[1] > 0 && s < size[0]; s++) {
        const double *x = array[0] + s * size[1], *c = array[1] + s * size[1];
        double y = x[0];
        for (size_t l = 1; l < size[1]; l++)
            y = y * c[l] + x[l];
        array[2][s] = y;
    }
}

static size_t count_lasts(const size_t *size)
{
    return size[1] > 0 ? size[0] : 0;
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes =
        {{1, 32}, {1, 64}, {4, 1024}, {1, 1}, {3, 2}, {2, 31}, {2, 33}, {3, 96}, {2, 160}, {2, 1000}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"lasts", JUDGE_OUTPUTS, count_lasts}},
    .reference = reference,
    .is_unused = judge_is_first,
    .launch = launch,
};
