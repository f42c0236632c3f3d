/* SPDX-License-Identifier: MIT */
/* arguments.h - chapter 13: the linear recurrence in the layout of models, (batch, time, channels). For each batch and
   channel, with a step's channels side by side in memory,

       y[t] = c[t] y[t-1] + x[t],     y[-1] = initial_state, or nothing: then y[0] = x[0]

       inputs    step 0:  x(channel 0) x(1) x(2) ...       one row is one step; the next step of a channel is
                 step 1:  x(channel 0) x(1) x(2) ...       `step` elements further
                 ...

   `coeffs` are c, or with log_coeffs their logarithms g, c = exp(g), as HGRN (Qin et al., 2023), RG-LRU (De et al.,
   2024) and GLA (Yang et al., 2024) give them. Reversed, time runs from the last step to the first one.

   Backward, with d for what is the gradient of, and e what a step hands to the one before it:

       d[t] = d_outputs[t] + e[t+1],     e[t] = c[t] d[t],     e[seq_len] = d_final_state or 0
       d_inputs[t] = d[t],   d_coeffs[t] = d[t] y[t-1], of logarithms e[t] y[t-1],   d_initial_state = e[0]

   y[-1] is the initial state; without one c[0] is never used, and its gradient is 0.

   Packed sequences (`starts`): batch is 1, and the steps are those of num_seqs sequences, one after the other. Sequence
   s has the steps starts[s] ... starts[s+1] - 1, which may be none; starts[0] is 0, starts[num_seqs] is seq_len.
   Nothing goes from one sequence to the next. The states then are (num_seqs, channels). */
#ifndef LAYOUT_ARGUMENTS_H
#define LAYOUT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/harness/kernel_info.h"
#include "../../common/base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far apart, in elements: two batches, two steps. The channels of a step are neighbours. A step of 0 means
   `channels`, a batch of 0 means seq_len steps: nothing lies between. */
struct layout_strides {
    size_t batch, step;
};

/* The arguments of every launcher. The void pointers are arrays (batch, seq_len, channels) of the type `dtype`, of any
   alignment that an element has, with strides as they say; states are float32 (batch, channels), or packed (num_seqs,
   channels), without gaps. Nothing overlaps. Everything is computed in float32. */
struct layout_args {
    size_t batch, seq_len, channels;
    size_t num_seqs;   /* packed sequences; not looked at without starts */
    const int *starts; /* num_seqs + 1 of them, on the device, ascending; NULL: not packed */
    enum dtype dtype;
    bool reverse, log_coeffs;
    struct launch_config config; /* what --config gave (launch_config.h) */

    const void *inputs, *coeffs;
    void *outputs;              /* forward writes, backward reads */
    const float *initial_state; /* or NULL */
    float *final_state;         /* or NULL; forward writes */

    const void *d_outputs;
    const float *d_final_state; /* or NULL: 0 */
    void *d_inputs, *d_coeffs;  /* backward writes */
    float *d_initial_state;     /* or NULL; backward writes */

    struct layout_strides inputs_by, coeffs_by, outputs_by, d_outputs_by, d_inputs_by, d_coeffs_by;

    /* scratch memory, for kernels that ask for it: all its bits are set before the first launch, and every later one,
       of whatever shape, finds what the one before has left */
    void *workspace;
    size_t workspace_size;
};

/* Launches on `stream` and returns the launch's error, cudaErrorInvalidValue for arguments that it cannot take, or
   cudaErrorNotSupported where the chip lacks what it needs. It allocates nothing and does not wait. No batch or no
   channel is a no-op; without a step final_state is the initial state, and d_initial_state is d_final_state. */
typedef cudaError_t layout_launcher(const struct layout_args *args, cudaStream_t stream);

/* A row of the chapter's table. The table ends with a row whose info.name is NULL. */
struct layout_kernel {
    struct kernel_info info;
    layout_launcher *forward, *backward; /* NULL: not offered */
    bool plain;                          /* it takes no log_coeffs, no states and no packed sequences */
    size_t channels_of;                  /* it takes multiples of so many channels; 0: any */
    size_t (*workspace_size)(const struct layout_args *args, bool backward); /* bytes; NULL: none */
};

#ifdef __cplusplus
}
#endif
#endif
