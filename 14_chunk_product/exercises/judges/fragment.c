/* SPDX-License-Identifier: MIT */
/* 14.5: a product of matrices in bf16 on the tensor cores. The judge's arrays are float32: what the answer gets of A
   and B is each number rounded to bf16, and its sums stay float32.

   The products are exact. A sum has k additions, each off by less than 2^-23 of what has been added up by then, however
   the tensor cores round. That is the judge's unit. */
#include <stdint.h>
#include <stdlib.h>

#include "../../../common/base/dtype.h"
#include "judge.h"

#include "matrices.h"
#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

enum { A, B, C, NUM_GIVEN = C };

cudaError_t launch_fragment(int m, int n, int k, const uint16_t *a, const uint16_t *b, float *c);

/* Brings a matrix of `rows` x `columns` to the device in bf16, in place of what was there. Messages call it `name'. */
static cudaError_t give(uint16_t **matrix, const float *array, size_t rows, size_t columns, const char *name)
{
    const size_t count = rows * columns, size[2] = {rows, columns};
    float *const floats = malloc(count * sizeof *floats + 1);
    uint16_t *const halves = malloc(count * sizeof *halves + 1);
    cudaError_t error = floats == NULL || halves == NULL ? cudaErrorMemoryAllocation : cudaFree(*matrix);

    *matrix = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)matrix, count * sizeof *halves + (count == 0));
    if (error == cudaSuccess)
        error = cudaMemcpy(floats, array, count * sizeof *floats, cudaMemcpyDeviceToHost);
    for (size_t i = 0; error == cudaSuccess && i < count; i++)
        halves[i] = bf16_of_float(floats[i]);
    if (error == cudaSuccess)
        error = cudaMemcpy(*matrix, halves, count * sizeof *halves, cudaMemcpyHostToDevice);
#ifdef CUSIM
    if (error == cudaSuccess && count > 0) {
        sim_name_array(*matrix, count * sizeof *halves, name);
        sim_shape_array(*matrix, sizeof *halves, 2, size);
    }
#else
    (void)name, (void)size;
#endif
    free(floats);
    free(halves);
    return error;
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    static uint16_t *given[NUM_GIVEN];
    const size_t m = size[0], n = size[1], k = k_of(size);
    cudaError_t error = give(&given[A], array[A], m, k, "a");

    if (error == cudaSuccess)
        error = give(&given[B], array[B], k, n, "b");
    if (error == cudaSuccess)
        error = launch_fragment((int)m, (int)n, (int)k, given[A], given[B], array[C]);
    return error;
}

static double rounded(double value)
{
    return float_of_bf16(bf16_of_float((float)value));
}

static void reference(const size_t *size, double *const *array)
{
    const size_t n = size[1], k = k_of(size);

    for (size_t i = 0; i < size[0]; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (size_t l = 0; l < k; l++)
                sum += rounded(array[A][i * k + l]) * rounded(array[B][l * n + j]);
            array[C][i * n + j] = sum;
        }
}

const struct judge judge = {
    .sizes = {"m", "n"},
    .shapes = {{16, 8}, {16, 16}, {32, 8}, {16, 40}, {48, 24}, {64, 64}, {80, 8}, {128, 16}, {0, 8}, {16, 0}},
    .arrays = {{"a", JUDGE_VALUES, count_a}, {"b", JUDGE_VALUES, count_b}, {"c", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
