/* SPDX-License-Identifier: MIT */
/* step_arguments.h - one step of a layer, as a model takes it that writes a text: each row of the batch is a text with
   one new position, and its state of all that came before lies in a slot. For each row and channel

       y = c state + x          y is the row's output and its slot's new state

       rows of the batch   0   1   2   3             slots say where a row's state lies; -1: the row is empty, and
       slots               5   0  -1   3             neither its arrays nor a state are touched

   Texts begin and end; their states stay where they are, and `slots` changes. No two rows have the same slot. */
#ifndef LAYOUT_STEP_ARGUMENTS_H
#define LAYOUT_STEP_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/base/dtype.h"
#include "../../common/harness/kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The void pointers are arrays (batch, channels) of the type `dtype`, aligned as an element is; states are float32
   (num_slots, channels), without gaps. Everything is computed in float32. */
struct step_args {
    size_t batch, channels, num_slots;
    const int *slots; /* (batch), on the device; NULL: row b has slot b. A number that is no slot is like -1 */
    enum dtype dtype;
    bool log_coeffs; /* coeffs are logarithms (arguments.h) */

    const void *inputs, *coeffs;
    void *outputs;
    size_t inputs_by, coeffs_by, outputs_by; /* elements from one row to the next; 0: channels */
    const float *states;
    float *new_states; /* may be the same array; the slots that no row has are not touched */
};

/* Launches on `stream` and returns the launch's error, or cudaErrorInvalidValue for arguments that it cannot take. It
   allocates nothing and does not wait. */
typedef cudaError_t step_launcher(const struct step_args *args, cudaStream_t stream);

/* A row of the table of ways to take a step in all layers of a model, one after the other. */
struct step_kernel {
    struct kernel_info info;
    bool as_graph; /* its launches are written down once, as a graph; else each is queued when its turn comes */
};

#ifdef __cplusplus
}
#endif
#endif
