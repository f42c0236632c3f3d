/* SPDX-License-Identifier: MIT */
/* 12.4: what comes into each rank, asked of each. */
#include "judge.h"

enum { MOST = 64 };

struct aggregate {
    float product, sum;
};

void fold(const struct aggregate *all, size_t rank, size_t count, float *comes_in);

static struct aggregate aggregates[MOST * MOST];

static cudaError_t launch(const size_t *size, float *const *array)
{
    for (size_t r = 0; r < size[0]; r++)
        for (size_t s = 0; s < size[1]; s++)
            aggregates[r * size[1] + s] = (struct aggregate){array[0][r * size[1] + s], array[1][r * size[1] + s]};
    for (size_t r = 0; r < size[0]; r++)
        fold(aggregates, r, size[1], array[2] + r * size[1]);
    return cudaSuccess;
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t s = 0; s < size[1]; s++) {
        double y = 0.0;
        for (size_t r = 0; r < size[0]; r++) {
            array[2][r * size[1] + s] = y;
            y = y * array[0][r * size[1] + s] + array[1][r * size[1] + s];
        }
    }
}

/* A product goes through each rank's. */
static size_t roundings(const size_t *size)
{
    return 2 * size[0] + 2;
}

const struct judge judge = {
    .sizes = {"ranks", "num_seqs"},
    .shapes = {{2, 1}, {3, 1}, {1, 1}, {4, 3}, {5, 2}, {7, 8}, {16, 1}, {33, 5}},
    .arrays = {{"products", JUDGE_COEFFS, NULL}, {"sums", JUDGE_VALUES, NULL}, {"comes_in", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .down_columns = true,
    .launch = launch,
    .on_cpu = true,
};
