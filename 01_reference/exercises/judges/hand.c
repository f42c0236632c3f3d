/* SPDX-License-Identifier: MIT */
/* 01.2: chapter 01's loops over four numbers. */
#include "judge.h"
#include "recurrence.h"

static cudaError_t launch(const size_t *size, float *const *array)
{
    (void)size, (void)array;
    return cudaSuccess;
}

static void count(const size_t *size, float *const *array)
{
    const float x[4] = {2, 1, -1, 4}, c[4] = {5, 3, 0.5f, 2}, one[4] = {1, 0, 0, 0}, d_y[4] = {1, 0, 0, 1};
    float y[4], d_x[4], d_c[4];

    (void)size, (void)array;
    seq_forward_float(4, false, one, c, y);
    judge_count("matrix_3_0", y[3]);
    seq_forward_float(4, false, x, c, y);
    judge_count("y3", y[3]);
    seq_backward_float(4, false, d_y, c, y, d_x, d_c);
    judge_count("d_x0", d_x[0]);
    judge_count("d_c2", d_c[2]);
    judge_count("d_c0", d_c[0]);
    seq_forward_float(4, true, x, c, y);
    judge_count("reverse_y0", y[0]);
    seq_backward_float(4, true, d_y, c, y, d_x, d_c);
    judge_count("reverse_d_x3", d_x[3]);
    judge_count("reverse_d_c0", d_c[0]);
}

const struct judge judge = {.sizes = {"elements"}, .launch = launch, .on_cpu = true, .count = count};
