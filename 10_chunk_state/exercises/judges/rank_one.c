/* SPDX-License-Identifier: MIT */
/* 10.3: the states of one head with 32 rows, from each of which a chunk takes a part of one number a column. */
#include "judge.h"

enum { ROWS = 32 };

cudaError_t launch_rank_one(int chunks, int columns, const float *h_local, const float *gamma, const float *w,
                            const float *y, float *h_out);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_rank_one((int)size[0], (int)size[1], array[0], array[1], array[2], array[3], array[4]);
}

static size_t states(const size_t *size)
{
    return size[0] * ROWS * size[1];
}

static size_t chunks(const size_t *size)
{
    return size[0];
}

static size_t rows(const size_t *size)
{
    return size[0] * ROWS;
}

/* of p, of a product with it, of the decay, of the difference and of the sum, in each chunk */
static size_t roundings(const size_t *size)
{
    return (ROWS + 6) * size[0];
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t column = 0; column < size[1]; column++) {
        double h[ROWS] = {0.0};
        for (size_t k = 0; k < size[0]; k++) {
            double p = 0.0;
            for (size_t r = 0; r < ROWS; r++)
                p += array[3][k * ROWS + r] * h[r] / ROWS;
            for (size_t r = 0; r < ROWS; r++) {
                const size_t at = (k * ROWS + r) * size[1] + column;
                h[r] = judge_minus(array[1][k] * h[r], array[2][k * ROWS + r] * p) + array[0][at];
                array[4][at] = h[r];
            }
        }
    }
}

const struct judge judge = {
    .sizes = {"chunks", "columns"},
    .shapes = {{1, 32}, {2, 32}, {3, 1}, {3, 64}, {4, 31}, {4, 33}, {20, 40}, {9, 100}, {5, 0}, {0, 5}},
    .arrays = {{"h_local", JUDGE_VALUES, states},
               {"gamma", JUDGE_COEFFS, chunks},
               {"w", JUDGE_VALUES, rows},
               {"y", JUDGE_VALUES, rows},
               {"h_out", JUDGE_OUTPUTS, states}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .launch = launch,
};
