/* SPDX-License-Identifier: MIT */
/* 07.2: the sum of each row. */
#include "judge.h"

cudaError_t launch_sums(int num_seqs, int seq_len, const float *values, float *sums);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_sums((int)size[0], (int)size[1], array[0], array[1]);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t s = 0; s < size[0]; s++) {
        array[1][s] = 0;
        for (size_t l = 0; l < size[1]; l++)
            array[1][s] += array[0][s * size[1] + l];
    }
}

static size_t rows(const size_t *size)
{
    return size[0];
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 32}, {4, 64}, {5, 74}, {3, 1}, {7, 31}, {9, 33}, {2, 1000}, {6, 0}, {0, 5}},
    .arrays = {{"values", JUDGE_VALUES, NULL}, {"sums", JUDGE_OUTPUTS, rows}},
    .reference = reference,
    .launch = launch,
};
