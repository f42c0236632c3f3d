/* SPDX-License-Identifier: MIT */
/* 13.6: the recurrence in arrays (batch, seq_len, channels) of bf16. The judge's arrays are float32: what the answer
   gets is the absolute value of each number, rounded to bf16, and its outputs come back as they are.

   All numbers are positive, so nothing cancels, and what the reference gives on absolute values is the result itself.
   Half a step of bf16 is at most 2^-8 of a number. A walk in float32 rounds a product and a sum in each step, by up to
   2^-24 of what has been added up by then. The judge's unit is 2^-23 of the result: 2^15 of them for the type, and two
   for each step, which leaves room for what is rounded of the rounded. */
#include <stdint.h>
#include <stdlib.h>

#include "../../../common/base/dtype.h"
#include "batches.h"
#include "judge.h"
#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

enum { X, C, Y, NUM_ARRAYS };

cudaError_t launch_rounded(int batch, int seq_len, int channels, const uint16_t *x, const uint16_t *c, uint16_t *y);

static uint16_t given(float value)
{
    return bf16_of_float(fabsf(value));
}

/* An array in bf16 on the device, which messages call `name'. */
static cudaError_t make_array(uint16_t **array, const size_t *size, const char *name)
{
    const size_t bytes = size[0] * size[1] * sizeof **array;
    cudaError_t error = cudaFree(*array);
    *array = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)array, bytes + (bytes == 0));
#ifdef CUSIM
    if (error == cudaSuccess && bytes > 0) {
        sim_name_array(*array, bytes, name);
        sim_shape_array(*array, sizeof **array, 2, size);
    }
#else
    (void)name;
    if (error == cudaSuccess)
        error = cudaMemset(*array, 0xFF, bytes);
#endif
    return error;
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    static uint16_t *on_device[NUM_ARRAYS];
    static const char *const names[NUM_ARRAYS] = {"x", "c", "y"};
    const size_t count = size[0] * size[1];
    float *const floats = malloc(count * sizeof *floats + 1);
    uint16_t *const halves = malloc(count * sizeof *halves + 1);
    cudaError_t error = floats == NULL || halves == NULL ? cudaErrorMemoryAllocation : cudaSuccess;

    for (int a = 0; a < NUM_ARRAYS && error == cudaSuccess; a++)
        error = make_array(&on_device[a], size, names[a]);
    for (int a = X; a <= C && error == cudaSuccess; a++) {
        error = cudaMemcpy(floats, array[a], count * sizeof *floats, cudaMemcpyDeviceToHost);
        for (size_t i = 0; error == cudaSuccess && i < count; i++)
            halves[i] = given(floats[i]);
        if (error == cudaSuccess)
            error = cudaMemcpy(on_device[a], halves, count * sizeof *halves, cudaMemcpyHostToDevice);
    }
    if (error == cudaSuccess)
        error = launch_rounded((int)batch_of(size), (int)seq_len_of(size), (int)size[1], on_device[X], on_device[C],
                               on_device[Y]);
#ifdef CUSIM
    sim_tell_unwritten(false); /* an output that was not written stays so, and the judge says which one it is */
#endif
    if (error == cudaSuccess)
        error = cudaMemcpy(halves, on_device[Y], count * sizeof *halves, cudaMemcpyDeviceToHost);
    for (size_t i = 0; error == cudaSuccess && i < count; i++)
        floats[i] = dtype_get(BF16, halves, i);
    if (error == cudaSuccess)
        error = cudaMemcpy(array[Y], floats, count * sizeof *floats, cudaMemcpyHostToDevice);
#ifdef CUSIM
    sim_tell_unwritten(true);
#endif
    free(floats);
    free(halves);
    return error;
}

static bool is_unused(const size_t *size, size_t i)
{
    return i / size[1] % seq_len_of(size) == 0;
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0] * size[1]; i++) {
        const double x = float_of_bf16(given((float)array[X][i])), c = float_of_bf16(given((float)array[C][i]));
        array[Y][i] = is_unused(size, i) ? x : array[Y][i - size[1]] * c + x;
    }
}

static size_t roundings(const size_t *size)
{
    return (1 << 15) + 2 * seq_len_of(size) + 16;
}

const struct judge judge = {
    .sizes = {"rows", "channels"},
    .shapes = {{6, 5}, {48, 32}, {1, 1}, {2, 3}, {33, 64}, {48, 33}, {65, 31}, {1024, 7}, {1001, 2}, {0, 5}, {5, 0}},
    .arrays = {{"x", JUDGE_VALUES, NULL}, {"c", JUDGE_COEFFS, NULL}, {"y", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .is_unused = is_unused,
    .launch = launch,
};
