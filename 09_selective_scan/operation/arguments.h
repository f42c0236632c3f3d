/* SPDX-License-Identifier: MIT */
/* arguments.h - chapter 09: the selective scan, the layer of Mamba (Gu and Dao, "Mamba: Linear-Time Sequence Modeling
   with Selective State Spaces", 2023). For each batch b, channel d and state n a linear recurrence, whose states are
   summed up to one output for each channel and step l:

       step[d, l]  = delta[d, l] + delta_bias[d],  through softplus(v) = log(1 + exp(v)) if delta_softplus
       h[d, n, l]  = exp(step[d, l] A[d, n]) h[d, n, l-1] + step[d, l] B[g, n, l] u[d, l],   h[d, n, -1] = initial_state
       y[d, l]     = sum over n of C[g, n, l] h[d, n, l]  +  D[d] u[d, l]
       out[d, l]   = y[d, l] * silu(z[d, l]),   silu(v) = v / (1 + exp(-v))

   g is the group of channel d: groups divide the channels evenly, in order. What is NULL falls away: no delta_bias adds
   nothing, no D nothing, no z leaves y as it is, no initial_state begins with 0. Names and meaning are those of Mamba's
   selective_scan_fn.

   Packed sequences, one after the other in time: the arrays have one batch, and sequence s has its steps starts[s] ...
   starts[s+1] - 1, which may be none; starts[0] is 0, and starts[num_seqs] is seq_len. Each has states of its own:
   initial_state and final_state, and the gradients of both, are (num_seqs, channels, states). Nothing goes from one to
   the next. */
#ifndef SELECTIVE_ARGUMENTS_H
#define SELECTIVE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/harness/kernel_info.h"
#include "../../common/base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of every launcher. Arrays are row-major and packed, bases aligned to 16 bytes; a row of seq_len
   elements so begins at any multiple of its element's size. "dtype" arrays have the type `dtype`, all others are
   float32. */
struct selective_args {
    size_t batch, channels, states, groups, seq_len;
    size_t num_seqs;   /* packed sequences; 0 without starts */
    const int *starts; /* (num_seqs + 1), on the device, or NULL: not packed. The batch is 1, then */
    enum dtype dtype;
    bool delta_softplus;
    struct launch_config config; /* what --config gave (launch_config.h) */

    const void *u, *delta;      /* dtype (batch, channels, seq_len) */
    const float *A;             /* (channels, states), negative where the layer is to forget */
    const void *B, *C;          /* dtype (batch, groups, states, seq_len) */
    const float *D;             /* (channels), or NULL */
    const void *z;              /* dtype (batch, channels, seq_len), or NULL */
    const float *delta_bias;    /* (channels), or NULL */
    const float *initial_state; /* (batch, channels, states), or NULL */

    void *out;          /* dtype (batch, channels, seq_len); forward writes */
    float *final_state; /* (batch, channels, states), h after the last step; forward writes it, unless it is NULL */

    /* backward: reads everything that forward reads, and */
    const void *d_out;          /* dtype (batch, channels, seq_len) */
    const float *d_final_state; /* (batch, channels, states), or NULL: 0 */
    /* writes the gradients; each is NULL where its input is, and d_initial_state also on demand */
    void *d_u, *d_delta;    /* dtype, as u */
    float *d_A;             /* (channels, states) */
    void *d_B, *d_C;        /* dtype, as B */
    float *d_D;             /* (channels) */
    void *d_z;              /* dtype, as z */
    float *d_delta_bias;    /* (channels) */
    float *d_initial_state; /* (batch, channels, states) */

    void *workspace; /* scratch memory, for kernels that ask for it */
    size_t workspace_size;
};

/* Launches on `stream` and returns the launch's error, or cudaErrorInvalidValue for arguments that it cannot take. It
   allocates nothing and does not wait. No batch, no channel or no step is a no-op, but for final_state, which is then
   the initial one. */
typedef cudaError_t selective_launcher(const struct selective_args *args, cudaStream_t stream);

/* A row of the chapter's table. The table ends with a row whose info.name is NULL. */
struct selective_kernel {
    struct kernel_info info;
    selective_launcher *forward, *backward;                                     /* NULL: not offered */
    size_t max_states;                                                          /* 0: up to SELECTIVE_MAX_STATES */
    bool packed;                                                                /* it takes packed sequences */
    size_t (*workspace_size)(const struct selective_args *args, bool backward); /* bytes; NULL: none */
};

enum { SELECTIVE_MAX_STATES = 256 };

/* The selective scan as an operation of the harness (operation.c), and a problem as its kernels see it. */
struct operation;
struct problem;
extern const struct operation selective_operation;
const struct operation *selective_packed_operation(void);
struct selective_args selective_args_of(const struct problem *problem);

#ifdef __cplusplus
}
#endif
#endif
