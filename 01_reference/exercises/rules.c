/* SPDX-License-Identifier: MIT */
/* 01.1  One rule, many uses

   The loop is written, and you may not touch it. It computes y[0] = x[0], y[l] = y[l-1] * c[l] + x[l]. Choose x and c,
   all n numbers of each, so that it computes something from v[0], v[1], ..., v[n-1]:

       sums       y[l] = v[k] + ... + v[l], where k is the last multiple of 10 up to l: it starts again at 10, 20, ...

                  l      0  1  2  ...  9  10     11         ...
                  y[l]  v0 v0+v1  ...     v10  v10+v11

       products   y[l] = v[0] * v[1] * ... * v[l]

       average    y[l] = 0.9 * y[l-1] + 0.1 * v[l], and y[0] = 0.1 * v[0]

   Goal: right for every n. (n is never 0.)

   Write where it says "here": each of the three is a loop of two assignments, or nearly so. */
#include <stddef.h>

void choose_sums(size_t n, const float *v, float *x, float *c)
{
    for (size_t l = 0; l < n; l++) {
        x[l] = v[l]; /* here */
        c[l] = 0;
    }
}

void choose_products(size_t n, const float *v, float *x, float *c)
{
    for (size_t l = 0; l < n; l++) {
        x[l] = v[l]; /* here */
        c[l] = 0;
    }
}

void choose_average(size_t n, const float *v, float *x, float *c)
{
    for (size_t l = 0; l < n; l++) {
        x[l] = v[l]; /* here */
        c[l] = 0;
    }
}
