/* SPDX-License-Identifier: MIT */
/* chunk_step.h - one position of a chunkwise layer, as a model takes it that writes a text: each row of the batch is a
   text with one new position, and its states of all that came before lie in a slot. For each row and head

       h   = gamma h - W (Y^T h) + k v^T            h is a matrix of dk rows and dv columns, W, Y and k are columns
       out = h^T q

       rows of the batch   0   1   2   3             slots say where a row's states lie; -1: the row is empty, and
       slots               5   0  -1   3             neither its arrays nor a state are touched

   No two rows have the same slot. Where W and Y are NULL, they fall away: Mamba-2 (k = dt B, v = x, q = C) and GLA.
   Gated DeltaNet and KDA, with a key k' and strength beta, have W = k = beta k' and Y = gamma k', row by row. */
#ifndef CHUNK_STEP_H
#define CHUNK_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/base/dtype.h"
#include "../../common/harness/kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "dtype" arrays have the type `dtype`, all others are float32; each is aligned as one element is. A state has no gaps;
   rows of the batch may lie apart in the other arrays. */
struct chunk_step_args {
    size_t batch, heads, dk, dv, num_slots; /* dk: up to CHUNK_STEP_MAX_ROWS */
    size_t decays;                          /* of a head: dk, one for each row, or 1 */
    const int *slots; /* (batch), on the device; NULL: row b has slot b. A number that is no slot is like -1 */
    enum dtype dtype;

    const void *q, *k;  /* dtype (batch, heads, dk) */
    const void *v;      /* dtype (batch, heads, dv) */
    const float *gamma; /* (batch, heads, decays) */
    const void *W, *Y;  /* dtype (batch, heads, dk), or both NULL */
    void *out;          /* dtype (batch, heads, dv) */
    /* elements from one row of the batch to the next; 0: no gaps */
    size_t q_by, k_by, v_by, gamma_by, W_by, Y_by, out_by;

    const float *state; /* (num_slots, heads, dk, dv) */
    float *new_state;   /* may be the same array; the slots that no row has are not touched */
};

enum { CHUNK_STEP_MAX_ROWS = 256 };

/* Launches on `stream` and returns the launch's error, or cudaErrorInvalidValue for arguments that it cannot take. It
   allocates nothing and does not wait. */
typedef cudaError_t chunk_step_launcher(const struct chunk_step_args *args, cudaStream_t stream);

/* A row of the table of the step's kernels. */
struct chunk_step_kernel {
    struct kernel_info info;
    chunk_step_launcher *step;
};

extern const struct operation chunk_step_operation; /* step_operation.c */

#ifdef __cplusplus
}
#endif
#endif
