/* SPDX-License-Identifier: MIT */
/* 06.5: the gradient of coefficients that all sequences share, from outputs and d_inputs. */
#include "judge.h"
#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

cudaError_t launch_same_bits(int num_seqs, int seq_len, const float *outputs, const float *d_inputs, float *partial,
                             float *d_coeffs);

static cudaError_t launch(const size_t *size, float *const *array)
{
    static float *partial;
    const size_t count = size[0] * size[1];
    cudaError_t error = cudaFree(partial);
    partial = NULL;
    if (error == cudaSuccess && count > 0)
        error = cudaMalloc((void **)&partial, count * sizeof *partial);
#ifdef CUSIM
    if (error == cudaSuccess && count > 0) { /* so messages say partial[3] */
        sim_name_array(partial, count * sizeof *partial, "partial");
        sim_shape_array(partial, sizeof *partial, 1, &count);
    }
#endif
    return error != cudaSuccess ? error
                                : launch_same_bits((int)size[0], (int)size[1], array[0], array[1], partial, array[2]);
}

static size_t seq_len(const size_t *size)
{
    return size[1];
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t l = 0; l < size[1]; l++) {
        array[2][l] = 0.0;
        for (size_t i = l; l > 0 && i < size[0] * size[1]; i += size[1])
            array[2][l] += array[0][i - 1] * array[1][i];
    }
}

static size_t roundings(const size_t *size)
{
    return size[0] + 8;
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{64, 32}, {1, 2}, {1, 1}, {3, 33}, {63, 31}, {65, 64}, {130, 5}, {200, 129}, {7, 300}, {0, 5}, {5, 0}},
    .arrays = {{"outputs", JUDGE_VALUES, NULL}, {"d_inputs", JUDGE_VALUES, NULL}, {"d_coeffs", JUDGE_OUTPUTS, seq_len}},
    .reference = reference,
    .roundings = roundings,
    .launch = launch,
};
