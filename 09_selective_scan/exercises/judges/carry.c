/* SPDX-License-Identifier: MIT */
/* 09.4: all states of a selective scan with one state, B = 1 and no C. */
#include "judge.h"

#include "one_state.h"

cudaError_t launch_carry(int channels, int seq_len, const float *u, const float *delta, float *out);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_carry((int)size[0], (int)size[1], array[0], array[1], array[2]);
}

const struct judge judge = {
    .sizes = {"channels", "seq_len"},
    .shapes = {{32, 8},
               {32, 16},
               {32, 32},
               {32, 64},
               {32, 256},
               {1, 1},
               {7, 9},
               {33, 31},
               {65, 33},
               {2, 1001},
               {3, 0},
               {0, 16}},
    .arrays = {{"u", JUDGE_VALUES, NULL}, {"delta", JUDGE_VALUES, NULL}, {"out", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
