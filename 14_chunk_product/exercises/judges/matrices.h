/* SPDX-License-Identifier: MIT */
/* matrices.h - shared by the judges of the exercises on products: C (m, n) = A (m, k) B (k, n), or with B given as its
   transpose, (n, k). The judge knows two sizes, m and n; k is m, and in 14.3 more than that. */
#ifndef MATRICES_H
#define MATRICES_H

#include <stddef.h>

#ifndef MORE_K
#define MORE_K 0
#endif

static inline size_t k_of(const size_t *size)
{
    return size[0] + MORE_K;
}

static inline size_t count_a(const size_t *size)
{
    return size[0] * k_of(size);
}

static inline size_t count_b(const size_t *size)
{
    return k_of(size) * size[1];
}

/* k products, and as many sums */
static inline size_t roundings(const size_t *size)
{
    return k_of(size) + 1;
}

/* The sum in the order of k. b_row and b_column: from an element of B to the next one down, and to the right. */
static inline void multiply(const size_t *size, double *const *array, size_t b_row, size_t b_column)
{
    for (size_t i = 0; i < size[0]; i++)
        for (size_t j = 0; j < size[1]; j++) {
            double sum = 0.0;
            for (size_t l = 0; l < k_of(size); l++)
                sum += array[0][i * k_of(size) + l] * array[1][l * b_row + j * b_column];
            array[2][i * size[1] + j] = sum;
        }
}

#endif
