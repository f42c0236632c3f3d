/* device.h - what the harness itself runs where the arrays live: filling, checking, and the elementwise kernels to
   compare with.

   device.cu does it on the GPU (and on the simulator), device_cpu.c in plain loops for chapter 01. All return a
   cudaError_t and do not wait. */
#ifndef DEVICE_H
#define DEVICE_H

#include "data.h"
#include "linrec.h"
#include "oracle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the test data of one array: num_seqs * spec->seq_len floats. */
cudaError_t device_fill(const struct data_spec *spec, enum data_array array, float *values, size_t num_seqs);

/* Compares the result in args with the oracle, every element of it, and adds what it finds to *result (device memory).
 */
cudaError_t device_check(const struct linrec_args *args, bool backward, size_t window, int levels,
                         struct oracle_result *result);

/* Reads `size` bytes, so that the L2 cache holds nothing else, and none of it waits to be written back. */
cudaError_t device_flush(const void *buffer, size_t size);

/* The yardsticks: copy (4 B read and 4 B written per element), add (8 and 4), add5 (12 and 8). They read and write the
   arrays of the pass that they are compared with. */
linrec_launcher baseline_copy, baseline_add, baseline_add5;

#ifdef __cplusplus
}
#endif
#endif
