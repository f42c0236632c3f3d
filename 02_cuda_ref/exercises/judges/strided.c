/* SPDX-License-Identifier: MIT */
/* 02.2: sum = a + b, n elements each. */
#include "judge.h"

cudaError_t launch_add_eight(int n, const float *a, const float *b, float *sum);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_add_eight((int)size[0], array[0], array[1], array[2]);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0]; i++)
        array[2][i] = array[0][i] + array[1][i];
}

static size_t one(const size_t *size)
{
    (void)size;
    return 1;
}

const struct judge judge = {
    .sizes = {"n"},
    .shapes = {{1024}, {4096}, {1}, {127}, {1023}, {1025}, {1500}, {3000}, {0, 1}},
    .arrays = {{"a", JUDGE_VALUES, NULL}, {"b", JUDGE_VALUES, NULL}, {"sum", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = one,
    .launch = launch,
};
