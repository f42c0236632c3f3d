/* SPDX-License-Identifier: MIT */
/* 08.4: launches the untouched kernel of 08.2, and counts. */
#include "judge.h"

cudaError_t launch_window(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs,
                          void *workspace);

static cudaError_t launch(const size_t *size, float *const *array)
{
    const size_t bytes = 8 + 8 * size[0] * ((size[1] + 31) / 32);
    void *workspace;
    cudaError_t error = cudaMalloc(&workspace, bytes); /* until the program ends, soon */

    if (error == cudaSuccess)
        error = cudaMemset(workspace, 0xFF, bytes);
    return error != cudaSuccess ? error : launch_window(size[0], size[1], array[0], array[1], array[2], workspace);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .launch = launch,
};
