/* SPDX-License-Identifier: MIT */
/* 09.1: a selective scan with one state. */
#include "judge.h"

#include <math.h>

cudaError_t launch_step(int channels, int seq_len, const float *u, const float *delta, const float *B, const float *C,
                        float *out);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_step((int)size[0], (int)size[1], array[0], array[1], array[2], array[3], array[4]);
}

/* of an exponential, whose argument is below 1, of an input and of the sum */
static size_t roundings(const size_t *size)
{
    return 8 * size[1] + 8;
}

static size_t steps(const size_t *size)
{
    return size[1];
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t d = 0; d < size[0]; d++) {
        double h = 0.0;
        for (size_t l = 0; l < size[1]; l++) {
            const double step = fabs(array[1][d * size[1] + l]);
            h = exp(-step / 16.0) * h + step * array[2][l] * array[0][d * size[1] + l];
            array[4][d * size[1] + l] = array[3][l] * h;
        }
    }
}

const struct judge judge = {
    .sizes = {"channels", "seq_len"},
    .shapes = {{1, 1}, {1, 2}, {64, 16}, {64, 128}, {65, 33}, {200, 7}, {3, 1000}, {2, 0}, {0, 5}},
    .arrays = {{"u", JUDGE_VALUES, NULL},
               {"delta", JUDGE_VALUES, NULL},
               {"B", JUDGE_VALUES, steps},
               {"C", JUDGE_VALUES, steps},
               {"out", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
