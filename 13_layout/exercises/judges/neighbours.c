/* SPDX-License-Identifier: MIT */
/* 13.2: the recurrence in arrays (batch, seq_len, channels). */
#include "judge.h"

#include "batches.h"

cudaError_t launch_neighbours(size_t batch, size_t seq_len, size_t channels, const float *inputs, const float *coeffs,
                              float *outputs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_neighbours(batch_of(size), seq_len_of(size), size[1], array[0], array[1], array[2]);
}

static bool is_unused(const size_t *size, size_t i)
{
    return i / size[1] % seq_len_of(size) == 0;
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0] * size[1]; i++)
        array[2][i] = is_unused(size, i) ? array[0][i] : array[2][i - size[1]] * array[1][i] + array[0][i];
}

static size_t roundings(const size_t *size)
{
    return seq_len_of(size) + 32;
}

const struct judge judge = {
    .sizes = {"rows", "channels"},
    .shapes = {{6, 5},
               {48, 32},
               {8, 5},
               {1, 1},
               {2, 3},
               {16, 1},
               {33, 64},
               {48, 33},
               {65, 31},
               {132, 7},
               {592, 65},
               {1001, 2},
               {0, 5},
               {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .is_unused = is_unused,
    .launch = launch,
};
