/* SPDX-License-Identifier: MIT */
/* 09.2: a selective scan with sixteen states. */
#include "judge.h"

#include <math.h>

enum { STATES = 16 };

cudaError_t launch_states(int channels, int seq_len, const float *u, const float *delta, const float *B, const float *C,
                          float *out);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_states((int)size[0], (int)size[1], array[0], array[1], array[2], array[3], array[4]);
}

/* of an exponential, whose argument is below 8, of an input and of the sums */
static size_t roundings(const size_t *size)
{
    return 16 * size[1] + STATES + 8;
}

static size_t of_states(const size_t *size)
{
    return STATES * size[1];
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0] * size[1]; i++)
        array[4][i] = 0.0;
    for (size_t d = 0; d < size[0]; d++)
        for (size_t n = 0; n < STATES; n++) {
            double h = 0.0;
            for (size_t l = 0; l < size[1]; l++) {
                const size_t i = d * size[1] + l;
                const double step = fabs(array[1][i]);
                h = exp(-(double)(n + 1) / STATES * step) * h + step * array[2][n * size[1] + l] * array[0][i];
                array[4][i] += array[3][n * size[1] + l] * h;
            }
        }
}

const struct judge judge = {
    .sizes = {"channels", "seq_len"},
    .shapes = {{1, 1}, {1, 2}, {64, 16}, {64, 128}, {65, 33}, {200, 7}, {3, 1000}, {2, 0}, {0, 5}},
    .arrays = {{"u", JUDGE_VALUES, NULL},
               {"delta", JUDGE_VALUES, NULL},
               {"B", JUDGE_VALUES, of_states},
               {"C", JUDGE_VALUES, of_states},
               {"out", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
