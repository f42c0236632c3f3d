/* SPDX-License-Identifier: MIT */
/* 13.3: in each chunk of 32 steps, what its first 8, 16, 24 and 32 steps do. */
#include "judge.h"

#include "batches.h"

enum { WARPS = 4, STEPS = 8, CHUNK = WARPS * STEPS };

cudaError_t launch_chunk(int batch, int seq_len, int channels, const float *inputs, const float *coeffs,
                         float *products, float *sums);

static cudaError_t launch(const size_t *size, float *const *array)
{
    return launch_chunk((int)batch_of(size), (int)seq_len_of(size), (int)size[1], array[0], array[1], array[2],
                        array[3]);
}

static size_t chunks_of(const size_t *size)
{
    return (seq_len_of(size) + CHUNK - 1) / CHUNK;
}

static size_t pairs(const size_t *size)
{
    return batch_of(size) * chunks_of(size) * WARPS * size[1];
}

static void reference(const size_t *size, double *const *array)
{
    const size_t seq_len = seq_len_of(size), chunks = chunks_of(size), channels = size[1];
    for (size_t i = 0; i < pairs(size); i++) {
        const size_t channel = i % channels, piece = i / channels % WARPS, block = i / channels / WARPS;
        const size_t seq = block / chunks, first = block % chunks * CHUNK;
        double product = 1.0, sum = 0.0;
        for (size_t t = first; t < first + (piece + 1) * STEPS && t < seq_len; t++) {
            const size_t at = (seq * seq_len + t) * channels + channel;
            product *= array[1][at];
            sum = sum * array[1][at] + array[0][at];
        }
        array[2][i] = product;
        array[3][i] = sum;
    }
}

/* of one chunk */
static size_t roundings(const size_t *size)
{
    (void)size;
    return 2 * CHUNK;
}

const struct judge judge = {
    .sizes = {"rows", "channels"},
    .shapes =
        {{48, 32}, {6, 5}, {1, 1}, {2, 3}, {16, 33}, {31, 7}, {33, 64}, {144, 65}, {516, 31}, {257, 3}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL},
               {"coeffs", JUDGE_COEFFS, NULL},
               {"products", JUDGE_OUTPUTS, pairs},
               {"sums", JUDGE_OUTPUTS, pairs}},
    .reference = reference,
    .down_columns = true,
    .shows_products = true,
    .roundings = roundings,
    .launch = launch,
};
