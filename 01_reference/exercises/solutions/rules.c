/* SPDX-License-Identifier: MIT */
/* 01.1  One rule, many uses */
#include <stddef.h>

void choose_sums(size_t n, const float *v, float *x, float *c)
{
    for (size_t l = 0; l < n; l++) {
        x[l] = v[l];
        c[l] = l % 10 == 0 ? 0 : 1; /* forget what came before */
    }
}

void choose_products(size_t n, const float *v, float *x, float *c)
{
    for (size_t l = 0; l < n; l++) {
        x[l] = l == 0 ? v[l] : 0; /* the product begins with the first number */
        c[l] = v[l];
    }
}

void choose_average(size_t n, const float *v, float *x, float *c)
{
    for (size_t l = 0; l < n; l++) {
        x[l] = 0.1f * v[l];
        c[l] = 0.9f;
    }
}
