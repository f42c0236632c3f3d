/* SPDX-License-Identifier: MIT */
/* 11.4: a sequence that goes round, in steps, and the calls that it takes. */
#include "judge.h"

#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

cudaError_t run_rounds(size_t rounds, size_t seq_len, const float *inputs, const float *coeffs, float *outputs,
                       float *state, cudaStream_t stream);

static size_t calls;

static cudaError_t launch(const size_t *size, float *const *array)
{
    float *state = NULL;
    cudaStream_t stream;
    if (size[0] == 0 || size[1] == 0)
        return cudaSuccess;
    cudaError_t error = cudaMalloc((void **)&state, sizeof *state);
    if (error == cudaSuccess)
        error = cudaMemset(state, 0, sizeof *state);
    if (error == cudaSuccess)
        error = cudaStreamCreate(&stream);
    if (error != cudaSuccess)
        return error;
#ifdef CUSIM
    sim_watch_calls(true, -1);
#endif
    error = run_rounds(size[0], size[1], array[0], array[1], array[2], state, stream);
#ifdef CUSIM
    calls = sim_num_calls();
    sim_watch_calls(false, -1);
#endif
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    cudaStreamDestroy(stream);
    cudaFree(state);
    return error;
}

static size_t seq_len(const size_t *size)
{
    return size[0] == 0 ? 0 : size[1];
}

static void reference(const size_t *size, double *const *array)
{
    double y = 0.0;
    for (size_t round = 0; round < size[0]; round++)
        for (size_t l = 0; l < size[1]; l++)
            array[2][l] = y = y * array[1][l] + array[0][l];
}

static size_t roundings(const size_t *size)
{
    return 2 * size[0] * size[1] + 2;
}

static void count(const size_t *size, float *const *array)
{
    (void)size, (void)array;
    judge_count("calls", (double)calls);
}

const struct judge judge = {
    .sizes = {"rounds", "seq_len"},
    .shapes = {{2, 32}, {1, 16}, {3, 5}, {1, 1}, {2, 17}, {5, 100}, {30, 160}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, seq_len},
               {"coeffs", JUDGE_COEFFS, seq_len},
               {"outputs", JUDGE_OUTPUTS, seq_len}},
    .reference = reference,
    .roundings = roundings,
    .is_one_seq = true,
    .launch = launch,
    .count = count,
};
