/* SPDX-License-Identifier: MIT */
/* 12.3: counts nothing; all its numbers follow from each other. */
#include "judge.h"

cudaError_t launch_join_tiles(size_t num_seqs, size_t num_tiles, const float *products, const float *sums,
                              float *product, float *sum);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_join_tiles(size[0], size[1], array[0], array[1], array[2], array[3]);
}

/* Without tiles nobody is asked. */
static size_t seqs(const size_t *size)
{
    return size[1] == 0 ? 0 : size[0];
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t s = 0; s < seqs(size); s++) {
        array[2][s] = 1.0;
        array[3][s] = 0.0;
        for (size_t t = s * size[1]; t < (s + 1) * size[1]; t++) {
            array[2][s] *= array[0][t];
            array[3][s] = array[3][s] * array[0][t] + array[1][t];
        }
    }
}

static size_t roundings(const size_t *size)
{
    return 2 * size[1] + 32;
}

const struct judge judge = {
    .sizes = {"num_seqs", "num_tiles"},
    .shapes = {{1, 2},
               {1, 1},
               {1, 3},
               {1, 31},
               {2, 32},
               {3, 33},
               {1, 127},
               {2, 128},
               {3, 129},
               {1, 257},
               {2, 1000},
               {1, 1025}},
    .arrays = {{"products", JUDGE_COEFFS, NULL},
               {"sums", JUDGE_VALUES, NULL},
               {"product", JUDGE_OUTPUTS, seqs},
               {"sum", JUDGE_OUTPUTS, seqs}},
    .reference = reference,
    .shows_products = true,
    .roundings = roundings,
    .launch = launch,
};
