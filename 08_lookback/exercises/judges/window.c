/* SPDX-License-Identifier: MIT */
/* 08.2: the recurrence in tiles of 32 elements, by blocks that look back. */
#include "judge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

enum { TILE = 32, MOST_TILES = 1 << 10, MOST_ELEMS = TILE * MOST_TILES };

/* As workspace.cuh has it. */
struct workspace {
    uint32_t ticket, finished, descriptors[MOST_TILES][2]; /* sum, product */
};
static const uint32_t inclusive_prefix = 0xFFFFFFFF;

cudaError_t launch_window(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs,
                          void *workspace);

/* What a launch begins with: all bits set, or what before_count has put there. */
static struct workspace begin;
static bool is_set;

static cudaError_t launch(const size_t *size, float *const *array)
{
    static void *workspace;
    cudaError_t error = workspace != NULL ? cudaSuccess : cudaMalloc(&workspace, sizeof begin);

#ifdef CUSIM
    sim_name_array(workspace, sizeof begin, "workspace");
#endif
    if (!is_set)
        memset(&begin, 0xFF, sizeof begin);
    struct workspace *const copied = malloc(sizeof begin); /* the judge's own data are kept from every copy */
    if (error == cudaSuccess && copied == NULL)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = cudaMemcpy(workspace, memcpy(copied, &begin, sizeof begin), sizeof begin, cudaMemcpyHostToDevice);
    free(copied);
    return error != cudaSuccess ? error : launch_window(size[0], size[1], array[0], array[1], array[2], workspace);
}

/* For the count all tiles of one sequence have published what they do, and only the first one knows its carry: so it is
   on a GPU where all blocks begin at once. Nobody polls then, and only the looks are counted. */
static void before_count(const size_t *size, float *const *array)
{
    /* no static arrays: the judge's own data are kept from every copy */
    float *const inputs = malloc(2 * MOST_ELEMS * sizeof(float)), *const coeffs = inputs + MOST_ELEMS;

    if (inputs == NULL)
        return;
    cudaMemcpy(inputs, array[0], size[1] * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(coeffs, array[1], size[1] * sizeof(float), cudaMemcpyDeviceToHost);
    memset(&begin, 0xFF, sizeof begin);
    for (size_t t = 0; t * TILE < size[1]; t++) {
        float product = 1.0f, sum = 0.0f;
        for (size_t l = t * TILE; l < (t + 1) * TILE && l < size[1]; l++) {
            sum = l == 0 ? inputs[l] : sum * coeffs[l] + inputs[l];
            product *= coeffs[l];
        }
        memcpy(&begin.descriptors[t][0], &sum, sizeof sum);
        memcpy(&begin.descriptors[t][1], t == 0 ? (const void *)&inclusive_prefix : &product, sizeof product);
    }
    free(inputs);
    is_set = true;
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 64},
               {1, 32},
               {1, 1024},
               {1, 1056},
               {1, 1088},
               {1, 2048},
               {1, 2080},
               {1, 3000},
               {3, 1},
               {2, 31},
               {2, 33},
               {3, 100},
               {2, 1100},
               {40, 64},
               {1, 0},
               {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
    .before_count = before_count,
};
