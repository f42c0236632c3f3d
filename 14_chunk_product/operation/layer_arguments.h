/* SPDX-License-Identifier: MIT */
/* layer_arguments.h - chapter 14: the layer of Mamba-2 (Dao and Gu, "Transformers are SSMs: Generalized Models and
   Efficient Algorithms Through Structured State Space Duality", 2024). For each batch and head a linear recurrence
   whose state H is a matrix, dv x dk, with one decay for all of it:

       s[t] = dt[t] + dt_bias[h],   through softplus(v) = log(1 + exp(v)) if dt_softplus       how long step t lasts
       H[t] = exp(s[t] A[h]) H[t-1] + s[t] x[t] B[t]^T,     H[-1] = initial_state or 0
       y[t] = H[t] C[t] + D[h] x[t]
       o[t] = y[t] * silu(z[t]),    silu(v) = v / (1 + exp(-v));           final_state = H[seq_len - 1]

   x[t] is a list of dv numbers, B[t] and C[t] lists of dk numbers. Heads come in groups: all heads of
   group g = h / (heads / groups) have its B and C. What is NULL falls away: no dt_bias adds nothing, no D nothing, no z
   leaves y as it is.

       step 0    x: head 0 | head 1 | head 2 | ...    B: group 0 | group 1 | ...      a step's heads are neighbours;
       step 1    x: head 0 | head 1 | head 2 | ...    B: group 0 | group 1 | ...      the next step follows

   Packed sequences (`starts`): batch is 1, and the steps are those of num_seqs sequences, one after the other. Sequence
   s has the steps starts[s] ... starts[s+1] - 1, which may be none; starts[0] is 0, starts[num_seqs] is seq_len.
   Nothing goes from one sequence to the next, and each has states of its own.

   Backward (gradients.md derives it), with a[t] = exp(s[t] A), d_y the gradient of y, and G[t] that of H[t]:

       d_y[t] = d_out[t] * silu(z[t]),    d_z[t] = d_out[t] * y[t] * silu'(z[t])
       G[t]   = a[t+1] G[t+1] + d_y[t] C[t]^T,   the last one + d_final_state;     d_initial_state = a[0] G[0]
       d_C[t] = sum over the group's heads of H[t]^T d_y[t]
       d_B[t] = sum over the group's heads of s[t] G[t]^T x[t]
       d_x[t] = s[t] G[t] B[t] + D d_y[t],    d_D = sum over batches and steps of x[t] . d_y[t]
       r[t]   = sum of G[t] * a[t] H[t-1], number by number         the gradient of s[t] A
       d_A    = sum over batches and steps of s[t] r[t]
       d_s[t] = A r[t] + x[t] . G[t] B[t],    d_dt[t] = d_s[t], times sigmoid(dt[t] + dt_bias) if dt_softplus
       d_dt_bias = sum over batches and steps of d_dt[t], before it is rounded to dtype                             */
#ifndef LAYER_ARGUMENTS_H
#define LAYER_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/base/dtype.h"
#include "../../common/base/host_device.h"
#include "../../common/harness/kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LAYER_MAX_DK = 256 };

/* The arguments of every launcher. Arrays are row-major and packed, bases aligned to 16 bytes; a row begins at any
   multiple of its element's size. "dtype" arrays have the type `dtype`, all others are float32. Steps, decays and sums
   are float32; in 16 bits a kernel may round the factors of a matrix product to dtype (layer_oracle.h has the
   bound). */
struct layer_args {
    size_t batch, seq_len, heads, dk, dv, groups; /* groups divide the heads evenly; dk is 1 to LAYER_MAX_DK */
    size_t num_seqs;                              /* packed sequences; else 0 */
    const int *starts;                            /* num_seqs + 1 of them, on the device, ascending; NULL: not packed */
    enum dtype dtype;
    bool dt_softplus;
    struct launch_config config; /* what --config gave (launch_config.h) */

    const void *x, *z;          /* dtype (batch, seq_len, heads, dv); z may be NULL */
    const void *dt;             /* dtype (batch, seq_len, heads) */
    const void *B, *C;          /* dtype (batch, seq_len, groups, dk) */
    const float *A;             /* (heads); negative, so that the state decays */
    const float *D, *dt_bias;   /* (heads), or NULL */
    const float *initial_state; /* (batch, heads, dv, dk), packed (num_seqs, heads, dv, dk), or NULL: 0 */
    void *out;                  /* dtype, like x; written */
    float *final_state;         /* like initial_state, or NULL; written */

    void *workspace; /* scratch memory, for kernels that ask for it: all its bits are set before the first launch, and
                        every later one finds what the one before has left */
    size_t workspace_size;
};

/* How many sequences there are: those of the batch, or those that are packed. */
static inline HOST_DEVICE size_t layer_num_seqs(const struct layer_args *args)
{
    return args->starts != NULL ? args->num_seqs : args->batch;
}

/* Launches on `stream` and returns the launch's error, cudaErrorInvalidValue for arguments that it cannot take, or
   cudaErrorNotSupported where the chip lacks what it needs. It allocates nothing and does not wait. No batch, head, row
   or step is a no-op, but for final_state, which without a step is the initial one.

   A NaN or an infinity in x stays in its sequence, head and row of dv, and reaches no step before it; of a kernel that
   multiplies chunks of steps as matrices (its row says how long they are), no step before its chunk: there a masked
   score of 0 meets it, and 0 times NaN is NaN. In the same sense one in dt stays in its sequence and head, one in B
   or C in its sequence and group. */
typedef cudaError_t layer_launcher(const struct layer_args *args, cudaStream_t stream);

/* The arguments of a backward launcher: it reads all that forward reads, and writes the gradient of each array. A
   gradient is NULL where its array is, d_initial_state also where nobody wants it. */
struct layer_backward_args {
    struct layer_args layer;    /* sizes, type and what forward reads, and the workspace; out and final_state are of no
                                meaning */
    const void *d_out;          /* dtype, as out */
    const float *d_final_state; /* as final_state, or NULL: 0 */

    void *d_x, *d_z;              /* dtype, as x */
    void *d_dt;                   /* dtype, as dt */
    void *d_B, *d_C;              /* dtype, as B */
    float *d_A, *d_D, *d_dt_bias; /* (heads) */
    float *d_initial_state;       /* as initial_state */
};

/* As layer_launcher. Gradients of arrays that batches, heads or rows share are added up in a fixed order: the same bits
   each time. Where there is nothing to add up they are 0; without a step d_initial_state is d_final_state.

   A NaN or an infinity stays in its batch, but for d_A, d_D and d_dt_bias of its head, and in its group; and in its row
   of d_x, d_z and d_initial_state, if it is one of x, z or d_out. What H takes along reaches no earlier step, and what
   G takes along no later one; of a kernel that multiplies chunks, no step outside of its chunk in that direction. */
typedef cudaError_t layer_backward_launcher(const struct layer_backward_args *args, cudaStream_t stream);

/* A row of the chapter's table. The table ends with a row whose info.name is NULL. */
struct layer_kernel {
    struct kernel_info info;
    layer_launcher *forward;
    layer_backward_launcher *backward; /* NULL: not offered */
    size_t chunk;        /* the most steps whose s A it adds up before it takes an exponential; 1: a loop */
    size_t max_dk;       /* 0: LAYER_MAX_DK */
    size_t dk_of, dv_of; /* it takes multiples of so many; 0: any */
    bool no_packed;      /* it takes no packed sequences */
    size_t (*workspace_size)(const struct layer_args *args);          /* bytes; NULL: none */
    size_t (*backward_workspace_size)(const struct layer_args *args); /* the same for backward */
};

#ifdef __cplusplus
}
#endif
#endif
