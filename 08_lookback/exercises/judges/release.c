/* SPDX-License-Identifier: MIT */
/* 08.3: 32 recurrences side by side, in tiles of 8 steps. */
#include "judge.h"

#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

enum { CHANNELS = 32, STEPS = 8, MOST_TILES = 256 };

cudaError_t launch_channels(int seq_len, const float *inputs, const float *coeffs, float *outputs, float *leaves,
                            unsigned *flags, unsigned *ticket);

/* The memory in between is there from the first launch on. Before each the flags and the ticket are 0, and what leaves
   the tiles is NaN. */
static cudaError_t launch(const size_t *size, float *const *array)
{
    static float *leaves;
    static unsigned *flags;
    const size_t leaves_size = MOST_TILES * CHANNELS * sizeof(float), flags_size = (MOST_TILES + 1) * sizeof(unsigned);
    cudaError_t error = cudaSuccess;

    if (leaves == NULL) {
        error = cudaMalloc((void **)&leaves, leaves_size);
        if (error == cudaSuccess)
            error = cudaMalloc((void **)&flags, flags_size);
    }
    if (error == cudaSuccess)
        error = cudaMemset(leaves, 0xFF, leaves_size);
    if (error == cudaSuccess)
        error = cudaMemset(flags, 0, flags_size);
    if (error != cudaSuccess)
        return error;
#ifdef CUSIM
    sim_name_array(leaves, leaves_size, "leaves");
    sim_name_array(flags, flags_size, "flags");
    const size_t leaves_dims[] = {MOST_TILES, CHANNELS}, num_flags = MOST_TILES + 1;
    sim_shape_array(leaves, sizeof(float), 2, leaves_dims);
    sim_shape_array(flags, sizeof(unsigned), 1, &num_flags);
#endif
    return launch_channels((int)size[0], array[0], array[1], array[2], leaves, flags, flags + MOST_TILES);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t i = 0; i < size[0] * size[1]; i++)
        array[2][i] = i < size[1] ? array[0][i] : array[2][i - size[1]] * array[1][i] + array[0][i];
}

static bool is_unused(const size_t *size, size_t i)
{
    return i < size[1];
}

static size_t roundings(const size_t *size)
{
    return size[0] + 32;
}

const struct judge judge = {
    .sizes = {"seq_len", "channels"},
    .shapes =
        {{8, 32}, {16, 32}, {1, 32}, {7, 32}, {9, 32}, {24, 32}, {31, 32}, {100, 32}, {520, 32}, {1001, 32}, {0, 32}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .is_unused = is_unused,
    .launch = launch,
};
