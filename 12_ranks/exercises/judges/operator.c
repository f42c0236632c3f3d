/* SPDX-License-Identifier: MIT */
/* 12.1: what comes into each rank, by halves. */
#include "judge.h"

enum { MOST = 64 };

struct aggregate {
    float product, sum;
};

void join(const struct aggregate *earlier, struct aggregate *later, size_t count);

static struct aggregate aggregates[MOST][MOST];

/* Writes what comes into ranks [begin, end), of which `before` comes in, NULL: nothing. Then aggregates[begin] is what
   all of them do. */
static void exscan(size_t begin, size_t end, size_t count, const struct aggregate *before, float *comes_in)
{
    const size_t middle = (begin + end) / 2;
    struct aggregate first[MOST], both[MOST];
    if (end - begin == 1) {
        for (size_t s = 0; s < count; s++)
            comes_in[begin * count + s] = before != NULL ? before[s].sum : 0.0f;
        return;
    }
    exscan(begin, middle, count, before, comes_in);
    for (size_t s = 0; s < count; s++)
        first[s] = both[s] = aggregates[begin][s];
    if (before != NULL)
        join(before, both, count);
    exscan(middle, end, count, both, comes_in);
    join(first, aggregates[middle], count);
    for (size_t s = 0; s < count; s++)
        aggregates[begin][s] = aggregates[middle][s];
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    for (size_t r = 0; r < size[0]; r++)
        for (size_t s = 0; s < size[1]; s++)
            aggregates[r][s] = (struct aggregate){array[0][r * size[1] + s], array[1][r * size[1] + s]};
    if (size[0] > 0 && size[1] > 0)
        exscan(0, size[0], size[1], NULL, array[2]);
    return cudaSuccess;
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t s = 0; s < size[1]; s++) {
        double y = 0.0;
        for (size_t r = 0; r < size[0]; r++) {
            array[2][r * size[1] + s] = y;
            y = y * array[0][r * size[1] + s] + array[1][r * size[1] + s];
        }
    }
}

/* A product goes through each rank's. */
static size_t roundings(const size_t *size)
{
    return 2 * size[0] + 2;
}

const struct judge judge = {
    .sizes = {"ranks", "num_seqs"},
    .shapes = {{2, 1}, {3, 1}, {1, 1}, {4, 3}, {5, 2}, {7, 8}, {16, 1}, {33, 5}},
    .arrays = {{"products", JUDGE_COEFFS, NULL}, {"sums", JUDGE_VALUES, NULL}, {"comes_in", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .roundings = roundings,
    .down_columns = true,
    .launch = launch,
    .on_cpu = true,
};
