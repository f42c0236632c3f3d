/* SPDX-License-Identifier: MIT */
/* 11.2: sequences of the host, one at a time over three streams. */
#include "bench.h"

cudaError_t scan_pieces(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs,
                        struct slot *slots, cudaStream_t in, cudaStream_t kernel, cudaStream_t out);

static cudaError_t launch(const size_t *size, float *const *array)
{
    struct bench bench;
    if (size[0] == 0 || size[1] == 0)
        return cudaSuccess;
    cudaError_t error = bench_make(&bench, size[0], size[1], size[1], size[1], array);
    if (error == cudaSuccess)
        error = scan_pieces(size[0], size[1], bench.inputs, bench.coeffs, bench.outputs, bench.slots, bench.in,
                            bench.kernel, bench.out);
    return bench_finish(&bench, error, array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{2, 10}, {3, 10}, {1, 5}, {1, 1}, {4, 33}, {7, 2}, {5, 100}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
    .count = bench_count,
};
