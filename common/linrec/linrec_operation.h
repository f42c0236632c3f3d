/* SPDX-License-Identifier: MIT */
/* linrec_operation.h - the linear recurrence (linrec.h) as an operation of the harness. A chapter's main.c hands it
   over with its table of struct linrec_kernel. */
#ifndef LINREC_OPERATION_H
#define LINREC_OPERATION_H

#include "linrec_data.h"
#include "linrec.h"
#include "../harness/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct operation linrec_operation;

/* Its sizes and arrays, as they are numbered there. */
enum { NUM_SEQS, SEQ_LEN };
enum linrec_array {
    LINREC_D_OUTPUTS,
    LINREC_INPUTS,
    LINREC_COEFFS,
    LINREC_OUTPUTS,
    LINREC_D_INPUTS,
    LINREC_D_COEFFS,
    LINREC_INITIAL_STATE,
    LINREC_FINAL_STATE,
    LINREC_D_FINAL_STATE,
    LINREC_D_INITIAL_STATE
};

/* What each array is filled with, where a pass reads it. */
extern const enum data_array linrec_contents[];

/* A problem as its kernels see it. */
struct linrec_args linrec_args_of(const struct problem *problem);

/* Adds a shape of num_seqs sequences for each of the usual lengths. */
void linrec_lengths(const struct machine *machine, size_t num_seqs, struct shapes *shapes);

/* How test data are made for a problem. */
struct data_spec linrec_spec(const struct problem *problem, const struct data *data);

/* Writes the test data of one array on the device: num_seqs * spec->seq_len floats, or num_seqs of a state. Does not
   wait. */
cudaError_t linrec_fill_array(const struct data_spec *spec, enum data_array array, float *values, size_t num_seqs);

/* The operation's check of gradients whose pass was given inputs, and computed the outputs once more. On the host.
   Returns false if there is no memory for it. */
bool linrec_check_recomputed(const struct problem *problem, int levels, struct finding *finding);

/* The operation's device_check (linrec_device.cu). */
cudaError_t linrec_device_check(const struct problem *problem, const struct data *data, int levels,
                                struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
