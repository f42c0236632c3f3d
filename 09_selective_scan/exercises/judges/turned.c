/* SPDX-License-Identifier: MIT */
/* 09.3: all states of a selective scan with one state, B = 1 and no C. */
#include "judge.h"

#include "one_state.h"

cudaError_t launch_turned(int channels, int seq_len, const float *u, const float *delta, float *out);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_turned((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"channels", "seq_len"},
    .shapes = {{32, 16}, {32, 64}, {1, 16}, {7, 32}, {33, 48}, {100, 16}, {2, 1008}, {3, 0}, {0, 16}},
    .arrays = {{"u", JUDGE_VALUES, NULL}, {"delta", JUDGE_VALUES, NULL}, {"out", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
