/* SPDX-License-Identifier: MIT */
/* 01.1: three choices of x and c, run by chapter 01's loop. */
#include "judge.h"

#include <math.h>
#include <stdlib.h>

void choose_sums(size_t n, const float *v, float *x, float *c);
void choose_products(size_t n, const float *v, float *x, float *c);
void choose_average(size_t n, const float *v, float *x, float *c);

static void (*const choose[])(size_t n, const float *v, float *x, float *c) = {choose_sums, choose_products,
                                                                               choose_average};

static cudaError_t launch(const size_t *size, float *const *array)
{
    const size_t n = size[0];
    float *x = malloc(n * sizeof *x), *c = malloc(n * sizeof *c);

    if (x == NULL || c == NULL)
        return cudaErrorMemoryAllocation;
    for (int which = 0; which < 3; which++) {
        float y = 0;
        for (size_t l = 0; l < n; l++)
            x[l] = c[l] = NAN; /* what is not chosen shows */
        choose[which](n, array[0], x, c);
        for (size_t l = 0; l < n; l++)
            array[1 + which][l] = y = l == 0 ? x[0] : y * c[l] + x[l];
    }
    free(x);
    free(c);
    return cudaSuccess;
}

/* A coefficient of 0 forgets every number, but not NaN: 0 * NaN is NaN. So does the reference. */
static void reference(const size_t *size, double *const *array)
{
    const double *v = array[0];

    for (size_t l = 0; l < size[0]; l++) {
        array[1][l] = l == 0 ? v[0] : array[1][l - 1] * (l % 10 != 0) + v[l];
        array[2][l] = l == 0 ? v[0] : array[2][l - 1] * v[l];
        array[3][l] = (l == 0 ? 0 : array[3][l - 1] * 0.9) + 0.1 * v[l];
    }
}

const struct judge judge = {
    .sizes = {"n"},
    .shapes = {{25}, {1}, {10}, {11}, {1000}, {0}},
    .arrays = {{"v", JUDGE_VALUES, NULL},
               {"sums", JUDGE_OUTPUTS, NULL},
               {"products", JUDGE_OUTPUTS, NULL},
               {"average", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .shows_products = true,
    .launch = launch,
    .on_cpu = true,
};
