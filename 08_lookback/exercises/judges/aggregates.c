/* SPDX-License-Identifier: MIT */
/* 08.1: what each tile of 512 elements does. */
#include "judge.h"

enum { TILE = 512 };

cudaError_t launch_aggregates(size_t seq_len, const float *inputs, const float *coeffs, float *products, float *sums);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_aggregates(size[0], array[0], array[1], array[2], array[3]);
}

static size_t tiles(const size_t *size)
{
    return (size[0] + TILE - 1) / TILE;
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t t = 0; t < tiles(size); t++) {
        array[2][t] = 1.0;
        array[3][t] = 0.0;
        for (size_t l = t * TILE; l < (t + 1) * TILE && l < size[0]; l++) {
            const double c = l == 0 ? 1.0 : array[1][l];
            array[2][t] *= c;
            array[3][t] = array[3][t] * c + array[0][l];
        }
    }
}

static bool is_unused(const size_t *size, size_t i)
{
    (void)size;
    return i == 0;
}

/* of one tile; a product goes through each of its coefficients */
static size_t roundings(const size_t *size)
{
    (void)size;
    return 2 * TILE;
}

const struct judge judge = {
    .sizes = {"seq_len"},
    .shapes = {{4},
               {8},
               {128},
               {512},
               {1024},
               {1},
               {2},
               {5},
               {31},
               {126},
               {127},
               {129},
               {257},
               {511},
               {513},
               {1000},
               {2049},
               {5003}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL},
               {"coeffs", JUDGE_COEFFS, NULL},
               {"products", JUDGE_OUTPUTS, tiles},
               {"sums", JUDGE_OUTPUTS, tiles}},
    .reference = reference,
    .shows_products = true,
    .roundings = roundings,
    .is_unused = is_unused,
    .launch = launch,
};
