/* SPDX-License-Identifier: MIT */
/* check.h - the host's arrays of chapter 11, their test data, and the loop in double precision. */
#ifndef STREAM_CHECK_H
#define STREAM_CHECK_H

#include "../common/harness/finding.h"
#include "../common/linrec/linrec_data.h"
#include "streams.h"

/* The arrays of all passes in one kind of memory; what a pass does not need may hold anything. */
struct host_arrays {
    enum memory memory;
    size_t count; /* elements of each; 0: none is allocated */
    float *inputs, *coeffs, *outputs, *d_outputs, *d_inputs, *d_coeffs;
};

/* Of this kind and size; does nothing if they are. */
void host_arrays_make(struct host_arrays *arrays, enum memory memory, size_t count);
void host_arrays_free(struct host_arrays *arrays);

/* Whether a kind of data is right for these sizes. */
bool kind_fits(const struct data_spec *spec, size_t num_seqs);

/* Fills what the pass reads, and what it writes with NaN. */
void fill(struct job *job, const struct data_spec *spec);

/* Compares the results with the loop. */
struct finding check_results(const struct job *job);

#endif
