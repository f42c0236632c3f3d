/* SPDX-License-Identifier: MIT */
/* 13.4: packed sequences, in pieces of 16 steps that know nothing of what is before them. */
#include <stdlib.h>

#include "judge.h"
#ifdef CUSIM
#include "../../../cusim/counts.h"
#endif

enum { STEPS = 16 };

cudaError_t launch_packed(int num_seqs, const int *starts, int seq_len, int channels, const float *inputs,
                          const float *coeffs, float *outputs);

/* Lengths that go round: some are 0 or 1, some end where a piece ends, and one is longer than a piece. */
enum { ONCE_ROUND = 112 }; /* their sum */
static size_t length_of(size_t seq)
{
    static const size_t lengths[] = {5, 0, 1, 9, 1, 16, 3, 0, 0, 40, 7, 14, 2, 2, 1, 11};
    return lengths[seq % (sizeof lengths / sizeof *lengths)];
}

/* Where a sequence starts; the last one that starts within seq_len is cut there. */
static size_t start_of(size_t seq, size_t seq_len)
{
    size_t start = 0;
    for (size_t s = 0; s < seq && start < seq_len; s++)
        start += length_of(s);
    return start < seq_len ? start : seq_len;
}

static size_t num_seqs_of(size_t seq_len)
{
    size_t seq = 0;
    while (start_of(seq, seq_len) < seq_len)
        seq++;
    return seq;
}

/* A piece's first step begins, too. */
static bool begins_at(size_t step, size_t seq_len)
{
    size_t start = 0;
    if (step % STEPS == 0)
        return true;
    for (size_t seq = 0; start < step % ONCE_ROUND; seq++)
        start += length_of(seq);
    return start == step % ONCE_ROUND && step < seq_len;
}

static cudaError_t launch(const size_t *size, float *const *array)
{
    static int *on_device;
    const size_t num_seqs = num_seqs_of(size[0]), count = num_seqs + 1;
    int *const starts = malloc(count * sizeof *starts);
    cudaError_t error = starts == NULL ? cudaErrorMemoryAllocation : cudaFree(on_device);
    on_device = NULL;
    for (size_t seq = 0; starts != NULL && seq < count; seq++)
        starts[seq] = (int)start_of(seq, size[0]);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&on_device, count * sizeof *starts);
    if (error == cudaSuccess)
        error = cudaMemcpy(on_device, starts, count * sizeof *starts, cudaMemcpyHostToDevice);
    free(starts);
#ifdef CUSIM
    if (error == cudaSuccess) { /* so messages say starts[3] */
        sim_name_array(on_device, count * sizeof *on_device, "starts");
        sim_shape_array(on_device, sizeof *on_device, 1, &count);
    }
#endif
    return error != cudaSuccess
               ? error
               : launch_packed((int)num_seqs, on_device, (int)size[0], (int)size[1], array[0], array[1], array[2]);
}

static bool is_unused(const size_t *size, size_t i)
{
    return begins_at(i / size[1], size[0]);
}

static void reference(const size_t *size, double *const *array)
{
    for (size_t step = 0; step < size[0]; step++) {
        const bool begins = begins_at(step, size[0]);
        for (size_t i = step * size[1]; i < (step + 1) * size[1]; i++)
            array[2][i] = begins ? array[0][i] : array[2][i - size[1]] * array[1][i] + array[0][i];
    }
}

/* of one piece */
static size_t roundings(const size_t *size)
{
    (void)size;
    return 2 * STEPS;
}

const struct judge judge = {
    .sizes = {"seq_len", "channels"},
    .shapes =
        {{16, 32}, {7, 5}, {1, 1}, {2, 3}, {5, 33}, {17, 1}, {96, 7}, {97, 31}, {130, 65}, {333, 3}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = reference,
    .down_columns = true,
    .roundings = roundings,
    .is_unused = is_unused,
    .launch = launch,
};
