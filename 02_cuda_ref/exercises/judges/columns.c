/* SPDX-License-Identifier: MIT */
/* 02.4: the recurrence down the columns of arrays of shape (seq_len, num_seqs). */
#include "judge.h"

cudaError_t launch_columns(size_t seq_len, size_t num_seqs, const float *inputs, const float *coeffs, float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_columns(size[0], size[1], array[0], array[1], array[2]);
}

static void reference(const size_t *size, double *const *array)
{
    const size_t num_seqs = size[1];
    for (size_t i = 0; i < size[0] * num_seqs; i++)
        array[2][i] = i < num_seqs ? array[0][i] : array[2][i - num_seqs] * array[1][i] + array[0][i];
}

static bool is_unused(const size_t *size, size_t i)
{
    return i < size[1];
}

static size_t roundings(const size_t *size)
{
    return size[0];
}

const struct judge judge = {
    .sizes = {"seq_len", "num_seqs"},
    .shapes = {{8, 128}, {64, 64}, {1, 1}, {2, 1}, {17, 1}, {1, 127}, {5, 3}, {33, 129}, {100, 300}, {5, 0}, {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .is_unused = is_unused,
    .launch = launch,
};
