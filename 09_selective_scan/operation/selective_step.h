/* SPDX-License-Identifier: MIT */
/* selective_step.h - one step of the layer of arguments.h, as a model takes it that writes a text: each row of the
   batch is a text with one new position, and its state of all that came before lies in a slot:

       rows of the batch   0   1   2   3             slots say where a row's state lies; -1: the row is empty, and
       slots               5   0  -1   3             neither its arrays nor a state are touched

   Texts begin and end; their states stay where they are, and `slots` changes. No two rows have the same slot. Names and
   meaning are those of Mamba's selective_state_update. */
#ifndef SELECTIVE_STEP_H
#define SELECTIVE_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/base/dtype.h"
#include "../../common/harness/kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "dtype" arrays have the type `dtype` and are aligned as one element is, all others are float32. A state has no gaps;
   rows of the dtype arrays may lie apart. */
struct selective_step_args {
    size_t batch, channels, states, groups, num_slots;
    const int *slots; /* (batch), on the device; NULL: row b has slot b. A number that is no slot is like -1 */
    enum dtype dtype;
    bool delta_softplus;

    const void *u, *delta;   /* dtype (batch, channels) */
    const float *A;          /* (channels, states) */
    const void *B, *C;       /* dtype (batch, groups, states) */
    const float *D;          /* (channels), or NULL */
    const void *z;           /* dtype (batch, channels), or NULL */
    const float *delta_bias; /* (channels), or NULL */
    void *out;               /* dtype (batch, channels) */
    /* elements from one row to the next; 0: no gaps */
    size_t u_by, delta_by, B_by, C_by, z_by, out_by;

    const float *state; /* (num_slots, channels, states) */
    float *new_state;   /* may be the same array; the slots that no row has are not touched */
};

/* Launches on `stream` and returns the launch's error, or cudaErrorInvalidValue for arguments that it cannot take. It
   allocates nothing and does not wait. */
typedef cudaError_t selective_step_launcher(const struct selective_step_args *args, cudaStream_t stream);

/* A row of the table of the step's kernels. */
struct selective_step_kernel {
    struct kernel_info info;
    selective_step_launcher *step;
};

extern const struct operation selective_step_operation; /* step_operation.c */

#ifdef __cplusplus
}
#endif
#endif
