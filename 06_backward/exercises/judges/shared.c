/* SPDX-License-Identifier: MIT */
/* 06.4: the gradients of y[l] = y[l-1] * decay + x[l]. */
#include "judge.h"

cudaError_t launch_shared(int num_seqs, int seq_len, const float *d_outputs, const float *decays, const float *outputs,
                          float *d_inputs, float *d_decays);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_shared((int)size[0], (int)size[1], array[0], array[1], array[2], array[3], array[4]);
}

static void reference(const size_t *size, double *const *array)
{
    const double *dy = array[0], *decays = array[1], *y = array[2];
    double *dx = array[3], *d_decays = array[4];

    for (size_t seq = 0; seq < size[0]; seq++)
        d_decays[seq] = 0.0;
    for (size_t i = size[0] * size[1]; i-- > 0;) {
        const size_t seq = i / size[1];
        dx[i] = (i + 1) % size[1] == 0 ? dy[i] : dx[i + 1] * decays[seq] + dy[i];
        d_decays[seq] += i % size[1] == 0 ? 0.0 : y[i - 1] * dx[i];
    }
}

static size_t num_seqs(const size_t *size)
{
    return size[0];
}

/* a sum over as many elements again */
static size_t roundings(const size_t *size)
{
    return 2 * size[1] + 32;
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
               {"decays", JUDGE_COEFFS, num_seqs},
               {"outputs", JUDGE_VALUES, NULL},
               {"d_inputs", JUDGE_OUTPUTS, NULL},
               {"d_decays", JUDGE_OUTPUTS, num_seqs}},
    .reference = reference,
    .reversed = true,
    .roundings = roundings,
    .launch = launch,
};
