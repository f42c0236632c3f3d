/* SPDX-License-Identifier: MIT */
/* 01.5: the recurrence on so many threads. */
#include "judge.h"

void forward_on_threads(size_t num_threads, size_t seq_len, const float *x, const float *c, float *y);

static size_t length(const size_t *size)
{
    return size[1];
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    forward_on_threads(size[0], size[1], array[0], array[1], array[2]);
    return cudaSuccess;
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t l = 0; l < size[1]; l++)
        array[2][l] = l == 0 ? array[0][l] : array[2][l - 1] * array[1][l] + array[0][l];
}

static bool is_first(const size_t *size, size_t i)
{
    (void)size;
    return i == 0;
}

/* The sequence is as long as that, however many threads there are. */
static void count(const size_t *size, float *const *array)
{
    (void)array;
    judge_count("elements", (double)size[1]);
}

/* parts of one element and of several, and carries over more than two parts */
const struct judge judge = {
    .sizes = {"num_threads", "seq_len"},
    .shapes = {{2, 8}, {1, 5}, {3, 10}, {4, 1}, {4, 3}, {7, 7}, {7, 100}, {8, 4096}, {3, 0}},
    .arrays = {{"x", JUDGE_VALUES, length}, {"c", JUDGE_COEFFS, length}, {"y", JUDGE_OUTPUTS, length}},
    .reference = reference,
    .is_one_seq = true,
    .is_unused = is_first,
    .launch = launch,
    .on_cpu = true,
    .count = count,
};
