/* SPDX-License-Identifier: MIT */
/* 10.2: the states before each chunk of one head, and the last one; columns are a multiple of 4. */
#include "judge.h"

#include "one_head.h"

cudaError_t launch_prefetch(int chunks, int columns, const float *h_local, const float *gamma,
                            const float *initial_state, float *h_out, float *final_state);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_prefetch((int)size[0], (int)size[1], array[0], array[1], array[2], array[3], array[4]);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[1]; i++) {
        double h = array[2][i];
        for (size_t k = 0; k < size[0]; k++) {
            array[3][k * size[1] + i] = h;
            h = array[1][k] * h + array[0][k * size[1] + i];
        }
        array[4][i] = h;
    }
}

const struct judge judge = {
    .sizes = {"chunks", "columns"},
    .shapes = {{1, 4}, {2, 4}, {3, 512}, {2, 508}, {5, 516}, {40, 1000}, {101, 36}, {1, 1024}, {5, 0}, {0, 8}},
    .arrays = {{"h_local", JUDGE_VALUES, NULL},
               {"gamma", JUDGE_COEFFS, chunks},
               {"initial_state", JUDGE_VALUES, columns},
               {"h_out", JUDGE_OUTPUTS, NULL},
               {"final_state", JUDGE_OUTPUTS, columns}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .launch = launch,
};
