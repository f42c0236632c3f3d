/* SPDX-License-Identifier: MIT */
/* 06.3: the gradients of the forward recurrence. */
#include "judge.h"

cudaError_t launch_fuse(int num_seqs, int seq_len, const float *d_outputs, const float *coeffs, const float *outputs,
                        float *d_inputs, float *d_coeffs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_fuse((int)size[0], (int)size[1], array[0], array[1], array[2], array[3], array[4]);
}

static void reference(const size_t *size, double *const *array)
{
    const double *dy = array[0], *c = array[1], *y = array[2];
    double *dx = array[3], *dc = array[4];

    for (size_t i = size[0] * size[1]; i-- > 0;) {
        dx[i] = (i + 1) % size[1] == 0 ? dy[i] : dx[i + 1] * c[i + 1] + dy[i];
        dc[i] = i % size[1] == 0 ? 0.0 : y[i - 1] * dx[i];
    }
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 4},
               {1, 128},
               {4, 256},
               {5, 1},
               {7, 2},
               {7, 3},
               {9, 5},
               {1, 7},
               {4, 127},
               {6, 129},
               {5, 254},
               {5, 255},
               {3, 257},
               {2, 1000},
               {3, 1023},
               {0, 5},
               {5, 0}},
    .arrays = {{"d_outputs", JUDGE_VALUES, NULL},
               {"coeffs", JUDGE_COEFFS, NULL},
               {"outputs", JUDGE_VALUES, NULL},
               {"d_inputs", JUDGE_OUTPUTS, NULL},
               {"d_coeffs", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .reversed = true,
    .is_unused = judge_is_first,
    .launch = launch,
};
