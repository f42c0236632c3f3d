/* SPDX-License-Identifier: MIT */
/* 14.1: a product of matrices whose sizes are multiples of a tile's. */
#include "judge.h"

#include "matrices.h"

cudaError_t launch_tile(int m, int n, int k, const float *a, const float *b, float *c);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_tile((int)size[0], (int)size[1], (int)k_of(size), array[0], array[1], array[2]);
}

static void reference(const size_t *size, double *const *array)
{
    multiply(size, array, size[1], 1);
}

const struct judge judge = {
    .sizes = {"m", "n"},
    .shapes = {{16, 16}, {16, 32}, {32, 16}, {64, 64}, {48, 80}, {80, 16}, {16, 112}, {0, 16}, {16, 0}},
    .arrays = {{"a", JUDGE_VALUES, count_a}, {"b", JUDGE_VALUES, count_b}, {"c", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
