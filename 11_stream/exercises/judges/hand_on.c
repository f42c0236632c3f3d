/* SPDX-License-Identifier: MIT */
/* 11.3: long sequences of the host, in pieces of time. */
#include "bench.h"

cudaError_t scan_long(size_t num_seqs, size_t seq_len, const float *inputs, const float *coeffs, float *outputs,
                      struct slot *slot, float *const *states, cudaStream_t stream);

enum { LENGTH = 8 }; /* of a piece, as in the task */

static cudaError_t launch(const size_t *size, float *const *array)
{
    struct bench bench;
    if (size[0] == 0 || size[1] == 0)
        return cudaSuccess;
    /* no room for more than a piece; in `out` there is, so that rows too far apart are told as what they are */
    const size_t piece = size[0] * (size[1] < LENGTH ? size[1] : LENGTH);
    cudaError_t error = bench_make(&bench, size[0], size[1], piece, size[0] * size[1], array);
    if (error == cudaSuccess)
        error = scan_long(size[0], size[1], bench.inputs, bench.coeffs, bench.outputs, &bench.slots[0], bench.states,
                          bench.kernel);
    return bench_finish(&bench, error, array[2]);
}

const struct judge judge = {
    .sizes = {"num_seqs", "seq_len"},
    .shapes = {{1, 16}, {2, 16}, {1, 5}, {1, 1}, {3, 8}, {3, 9}, {4, 33}, {35, 17}, {2, 100}, {0, 5}, {5, 0}},
    .arrays = {{"inputs", JUDGE_VALUES, NULL}, {"coeffs", JUDGE_COEFFS, NULL}, {"outputs", JUDGE_OUTPUTS, NULL}},
    .reference = judge_recurrence,
    .is_unused = judge_is_first,
    .launch = launch,
    .count = bench_count,
};
