/* SPDX-License-Identifier: MIT */
/* 14.4: a product with a matrix that is given as its transpose. */
#include "judge.h"

#include "matrices.h"

cudaError_t launch_banks(int m, int n, int k, const float *a, const float *b, float *c);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_banks((int)size[0], (int)size[1], (int)k_of(size), array[0], array[1], array[2]);
}

static void reference(const size_t *size, double *const *array)
{
    multiply(size, array, 1, k_of(size));
}

const struct judge judge = {
    .sizes = {"m", "n"},
    .shapes = {{32, 32}, {32, 64}, {64, 32}, {96, 32}, {0, 32}, {32, 0}},
    .arrays = {{"a", JUDGE_VALUES, count_a}, {"b", JUDGE_VALUES, count_b}, {"c", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
