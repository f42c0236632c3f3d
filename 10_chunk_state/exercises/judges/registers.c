/* SPDX-License-Identifier: MIT */
/* 10.1: the states after each chunk of one head, with one decay a chunk. */
#include "judge.h"

#include "one_head.h"

cudaError_t launch_registers(int chunks, int columns, const float *h_local, const float *gamma,
                             const float *initial_state, float *h_out);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_registers((int)size[0], (int)size[1], array[0], array[1], array[2], array[3]);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[1]; i++) {
        double h = array[2][i];
        for (size_t k = 0; k < size[0]; k++) {
            h = array[1][k] * h + array[0][k * size[1] + i];
            array[3][k * size[1] + i] = h;
        }
    }
}

const struct judge judge = {
    .sizes = {"chunks", "columns"},
    .shapes = {{1, 1}, {2, 1}, {1, 256}, {3, 256}, {2, 255}, {5, 257}, {40, 1000}, {100, 33}, {5, 0}, {0, 5}},
    .arrays = {{"h_local", JUDGE_VALUES, NULL},
               {"gamma", JUDGE_COEFFS, chunks},
               {"initial_state", JUDGE_VALUES, columns},
               {"h_out", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .launch = launch,
};
