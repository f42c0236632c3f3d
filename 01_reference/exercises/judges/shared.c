/* SPDX-License-Identifier: MIT */
/* 01.3: the gradients of a recurrence with one coefficient. */
#include "judge.h"

void shared_backward(size_t seq_len, float c, const float *y, const float *d_y, float *d_x, float *d_c);

static cudaError_t launch(const size_t *size, float *const *array)
{
    shared_backward(size[0], array[0][0], array[1], array[2], array[3], array[4]);
    return cudaSuccess;
}

static void reference(const size_t *size, double *const *array)
{
    const double c = array[0][0], *y = array[1], *d_y = array[2];
    double d = 0, sum = 0;

    for (size_t l = size[0]; l-- > 0;) {
        array[3][l] = d = d * c + d_y[l];
        if (l > 0)
            sum += y[l - 1] * d;
    }
    array[4][0] = sum;
}

static size_t one(const size_t *size)
{
    (void)size;
    return 1;
}

const struct judge judge = {
    .sizes = {"seq_len"},
    .shapes = {{5}, {1}, {2}, {3}, {1000}, {0, 1}},
    .arrays = {{"c", JUDGE_COEFFS, one},
               {"y", JUDGE_VALUES, NULL},
               {"d_y", JUDGE_VALUES, NULL},
               {"d_x", JUDGE_OUTPUTS, NULL},
               {"d_c", JUDGE_OUTPUTS, one}},
    .reference = reference,
    .reversed = true,
    .launch = launch,
    .on_cpu = true,
};
