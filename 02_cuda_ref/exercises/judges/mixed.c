/* SPDX-License-Identifier: MIT */
/* 02.7: sequences of mixed lengths, one behind the other. */
#include <stdlib.h>

#include "judge.h"
#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

cudaError_t launch_mixed(int num_seqs, const int *offsets, const float *inputs, const float *coeffs, float *outputs,
                         int *order);

/* Many short ones, a few long ones, and some that are empty or as long as another. */
static size_t length_of(size_t seq, size_t longest)
{
    const size_t drawn = (seq * 2654435761u >> 16) % (longest + 1);
    return longest == 0 ? 0 : drawn * drawn / longest;
}

static size_t total(const size_t *size)
{
    size_t sum = 0;
    for (size_t seq = 0; seq < size[0]; seq++)
        sum += length_of(seq, size[1]);
    return sum;
}

/* A list of `count` whole numbers on the device, which messages call `name`. */
static cudaError_t make_list(int **list, size_t count, const char *name)
{
    cudaError_t error = cudaFree(*list);
    *list = NULL;
    if (error == cudaSuccess)
        error = cudaMalloc((void **)list, count * sizeof **list);
#ifdef CUSIM
    if (error == cudaSuccess && count > 0) {
        sim_name_array(*list, count * sizeof **list, name);
        sim_shape_array(*list, sizeof **list, 1, &count);
    }
#else
    (void)name;
#endif
    return error;
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    static int *on_device, *order;
    const size_t count = size[0] + 1;
    int *const offsets = malloc(count * sizeof *offsets);
    cudaError_t error = offsets == NULL ? cudaErrorMemoryAllocation : make_list(&on_device, count, "offsets");
    if (error == cudaSuccess)
        error = make_list(&order, size[0], "order");
    if (error == cudaSuccess) {
        offsets[0] = 0;
        for (size_t seq = 0; seq < size[0]; seq++)
            offsets[seq + 1] = offsets[seq] + (int)length_of(seq, size[1]);
        error = cudaMemcpy(on_device, offsets, count * sizeof *offsets, cudaMemcpyHostToDevice);
    }
    free(offsets);
    return error != cudaSuccess ? error : launch_mixed((int)size[0], on_device, array[0], array[1], array[2], order);
}

static bool is_unused(const size_t *size, size_t i)
{
    size_t begin = 0;
    for (size_t seq = 0; seq < size[0] && begin < i; seq++)
        begin += length_of(seq, size[1]);
    return begin == i;
}

static void reference(const size_t *size, double *const *array)
{
    size_t i = 0;
    for (size_t seq = 0; seq < size[0]; seq++)
        for (size_t l = 0; l < length_of(seq, size[1]); l++, i++)
            array[2][i] = l == 0 ? array[0][i] : array[2][i - 1] * array[1][i] + array[0][i];
}

static size_t roundings(const size_t *size)
{
    return size[1] + 32;
}

const struct judge judge = {
    .sizes = {"num_seqs", "longest"},
    .shapes = {{4, 9}, {1, 5}, {2, 1}, {3, 0}, {31, 8}, {33, 64}, {127, 20}, {128, 64}, {129, 33}, {300, 100}, {0, 5}},
    .arrays = {{"inputs", JUDGE_VALUES, total}, {"coeffs", JUDGE_COEFFS, total}, {"outputs", JUDGE_OUTPUTS, total}},
    .reference = reference,
    .is_one_seq = true,
    .roundings = roundings,
    .is_unused = is_unused,
    .launch = launch,
};
