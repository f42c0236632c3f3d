/* SPDX-License-Identifier: MIT */
/* 05.2: running sums in groups of 16, over n elements. */
#include "judge.h"

cudaError_t launch_banks(int n, const float *values, float *sums);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_banks((int)size[0], array[0], array[1]);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0]; i++)
        array[1][i] = (i % 16 == 0 ? 0.0 : array[1][i - 1]) + array[0][i];
}

static size_t sixteen(const size_t *size)
{
    (void)size;
    return 16;
}

const struct judge judge = {
    .sizes = {"n"},
    .shapes = {{2048}, {4096}, {1}, {15}, {17}, {2047}, {2049}, {5000}, {0, 1}},
    .arrays = {{"values", JUDGE_VALUES, NULL}, {"sums", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = sixteen,
    .launch = launch,
};
