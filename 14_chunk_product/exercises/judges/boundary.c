/* SPDX-License-Identifier: MIT */
/* 14.3: a product of matrices of any sizes; k is m + 5. */
#include "judge.h"

#define MORE_K 5
#include "matrices.h"

cudaError_t launch_boundary(int m, int n, int k, const float *a, const float *b, float *c);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_boundary((int)size[0], (int)size[1], (int)k_of(size), array[0], array[1], array[2]);
}

static void reference(const size_t *size, double *const *array)
{
    multiply(size, array, size[1], 1);
}

const struct judge judge = {
    .sizes = {"m", "n"},
    .shapes = {{16, 16},
               {11, 16},
               {1, 1},
               {2, 3},
               {15, 17},
               {16, 1},
               {1, 16},
               {17, 15},
               {27, 33},
               {33, 31},
               {43, 5},
               {0, 5},
               {5, 0}},
    .arrays = {{"a", JUDGE_VALUES, count_a}, {"b", JUDGE_VALUES, count_b}, {"c", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
