/* SPDX-License-Identifier: MIT */
/* 07.1: ab = a + b and bc = b + c, n elements each. */
#include "judge.h"

cudaError_t launch_baseline(size_t n, const float *a, const float *b, const float *c, float *ab, float *bc);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_baseline(size[0], array[0], array[1], array[2], array[3], array[4]);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0]; i++) {
        array[3][i] = array[0][i] + array[1][i];
        array[4][i] = array[1][i] + array[2][i];
    }
}

static size_t one(const size_t *size)
{
    (void)size;
    return 1;
}

const struct judge judge = {
    .sizes = {"n"},
    .shapes = {{1024}, {10}, {1}, {2}, {3}, {4}, {1023}, {1025}, {1028}, {5000}, {0, 1}},
    .arrays = {{"a", JUDGE_VALUES, NULL},
               {"b", JUDGE_VALUES, NULL},
               {"c", JUDGE_VALUES, NULL},
               {"ab", JUDGE_OUTPUTS, NULL},
               {"bc", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = one,
    .launch = launch,
};
