/* SPDX-License-Identifier: MIT */
/* 06.2: the reversed recurrence over sequences of any length. */
#include "judge.h"

JUDGE_FUNCTION(launch_reverse, int)

static void reference(const size_t *size, double *const *array)
{
    const double *x = array[0], *c = array[1];
    double *y = array[2];

    for (size_t i = size[0] * size[1]; i-- > 0;)
        y[i] = (i + 1) % size[1] == 0 ? x[i] : y[i + 1] * c[i] + x[i];
}

static bool is_last(const size_t *size, size_t i)
{
    return (i + 1) % size[1] == 0;
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 4},
               {1, 128},
               {4, 256},
               {5, 1},
               {7, 2},
               {7, 3},
               {9, 5},
               {1, 7},
               {4, 127},
               {6, 129},
               {5, 254},
               {5, 255},
               {3, 257},
               {2, 1000},
               {3, 1023},
               {0, 5},
               {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .reversed = true,
    .is_unused = is_last,
    .launch = launch,
};
