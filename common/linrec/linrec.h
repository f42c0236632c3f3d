/* SPDX-License-Identifier: MIT */
/* linrec.h - the contract of all kernels of the linear recurrence: the operation, its arguments and the table of
   kernels.

   The linear recurrence of one sequence of length L:

       y[0] = x[0],   y[l] = y[l-1] * c[l] + x[l]      l = 1 ... L-1

   and, reversed, the same from the last element to the first (y[l] from y[l+1]). Backward, given the
   gradient d_outputs of some loss with respect to y, it returns the gradients with respect to x and c:

       d_inputs[l] = d_inputs[l+1] * c[l+1] + d_outputs[l],   d_coeffs[l] = y[l-1] * d_inputs[l]

   (mirrored when reversed). A sequence may go on from a state, which is the output before its first element: then
   y[0] = y[-1] * c[0] + x[0]; and its last output is the state from which the next piece goes on. Both have gradients:
   d_final_state is added to d_outputs[L-1], d_coeffs[0] = y[-1] * d_inputs[0], and d_initial_state = d_inputs[0] *
   c[0]. So a sequence in pieces, each with the states of its neighbours, has the results of the whole.

   Overflow: a kernel with several threads for a sequence multiplies coefficients that follow each other before it knows
   the outputs. If the absolute value of such a product is more than a float holds (3.4e38), then the outputs from there
   to the sequence's end may be infinite or NaN, though a loop would find numbers: 0 * infinity is NaN. A coefficient of
   0 further on does not make them right again. Which outputs, depends on the kernel. It takes some abs(c) > 1, and in a
   row: 931 times 1.1, or 8917 times 1.01. As long as no product of any length overflows, no output becomes NaN that the
   loop has finite, and never where all abs(c) <= 1. But an output that is infinite may become NaN where the loop keeps
   the infinity, from the first element on at which a product of coefficients that follow each other behind it
   underflows to 0 (150 times 0.5): it never becomes finite. Other sequences are not touched in any case.

   Layout of every array: (num_seqs, seq_len), row-major, packed, float32:

       sequence 0            sequence 1            sequence 2
       |0 1 2 ... L-1|0 1 2 ... L-1|0 1 2 ... L-1| ...           element (s, l) at [s * seq_len + l]
*/
#ifndef LINREC_H
#define LINREC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "../harness/kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of every launcher: sizes, direction, launch configuration and pointers.

   Pointers: to device memory (a chapter on the CPU: host memory), bases aligned to 16 bytes, arrays that do not
   overlap. Rows are packed, so a row starts at any multiple of 4 bytes. Nothing before the first or past the last
   element is read or written. Without an initial state the first coefficient of a sequence (the last when reversed) is
   never used, and its gradient is 0. */
struct linrec_args {
    size_t num_seqs;             /* number of sequences, rows */
    size_t seq_len;              /* elements in each sequence, columns */
    bool reverse;                /* run from the last element to the first */
    struct launch_config config; /* what --config gave (launch_config.h) */

    const float *inputs; /* x   forward reads */
    const float *coeffs; /* c   forward and backward read */
    float *outputs;      /* y   forward writes, backward reads */

    const float *d_outputs; /* dL/dy   backward reads */
    float *d_inputs;        /* dL/dx   backward writes */
    float *d_coeffs;        /* dL/dc   backward writes */

    /* The states, (num_seqs), each NULL where it is not wanted, for kernels that take them (`states`, below). Reversed,
       a sequence begins at its last element. A sequence of no elements ends in the state in which it begins: 0 where
       there is none; the same of the gradients. */
    const float *initial_state; /* y[-1]                 forward and backward read; NULL: there is none */
    float *final_state;         /* y[L-1]                forward writes: the very bits of that output */
    const float *d_final_state; /* dL/d final_state      backward reads; NULL: 0 */
    float *d_initial_state;     /* dL/d initial_state    backward writes; only where there is an initial state */

    void *workspace; /* scratch memory, for kernels that ask for it. Before the first launch all its bits are set; */
    size_t workspace_size; /* after that it holds what the launch before left there (workspace_size, below) */
};

/* A launcher checks its arguments, launches on `stream` and returns the launch's error, or cudaErrorInvalidValue for
   arguments that it cannot take. It allocates nothing and does not wait. With zero sequences or zero length it does
   nothing, but for final_state and d_initial_state of sequences of no elements, which it fills. */
typedef cudaError_t linrec_launcher(const struct linrec_args *args, cudaStream_t stream);

/* What a partial kernel makes of an element: the coefficient and the input that it takes there, and whether it stores
   a result. */
struct linrec_element {
    double coeff, input;
    bool stored;
};

/* One row of a chapter's table of kernels: what the harness knows of any kernel, and what a kernel of the recurrence
   says beside. A table ends with a row whose info.name is NULL. */
struct linrec_kernel {
    struct kernel_info info;

    linrec_launcher *forward;  /* NULL: not offered */
    linrec_launcher *backward; /* NULL: not offered */
    bool reverse;              /* the launchers also take args->reverse */
    bool states;               /* they also take initial and final states; the others refuse them */
    bool finite_products;      /* it multiplies any coefficients that follow each other, and promises nothing where such
                                  a product is infinite: it is not checked on data that overflow */

    size_t max_seq_len;  /* longest sequence, 0: any */
    size_t max_num_seqs; /* most sequences, 0: any */
    size_t max_elems;    /* most elements of all sequences together, 0: any */

    /* Whether this chip has room for args (only the sizes are read). NULL: any chip has. */
    bool (*has_room)(const struct linrec_args *args);

    /* Levels of addition that an element passes through beside its own thread's loop: D in the error bound
       (linrec_oracle.h). NULL: one, the plain loop. */
    int (*levels)(size_t seq_len);

    /* Bytes of scratch memory needed for args (only the sizes and the config are read). NULL: none. The launchers
       return cudaErrorInvalidValue if there is none or less, and take more.

       The caller fills it with 0xFF once (linrec_workspace_init, beside linrec_forward), and then launches as often as
       needed, with any data, one launch after the other. So a kernel that needs to find something there leaves it as
       it found it, and its cleaning up is part of its time. It takes nothing that lies there for an index unseen.
       Launches that run at the same time need a workspace each. */
    size_t (*workspace_size)(const struct linrec_args *args);

    /* Partial kernels: they are the recurrence of other coefficients and inputs, and may not store all. On host arrays;
       *element holds what the whole recurrence takes at (seq, pos) and is changed to what this one does. NULL: nothing
       is checked. */
    void (*instead)(const struct linrec_args *args, size_t seq, size_t pos, struct linrec_element *element);

    /* Writes who computes element (seq, pos), for example "block 3, thread 17". NULL: not said. */
    void (*owner)(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size);
};

/* What every launcher checks first that takes states. Returns cudaErrorInvalidValue for sizes whose bytes overflow, a
   null pointer where one is needed, a base that is not aligned to 16 bytes, or the gradient of an initial state that is
   not there; cudaSuccess otherwise. Zero sizes need no pointers. */
static inline cudaError_t linrec_check_args_and_states(const struct linrec_args *args, bool backward)
{
    const void *forward_needs[] = {args->inputs, args->coeffs, args->outputs};
    const void *backward_needs[] = {args->d_outputs, args->coeffs, args->outputs, args->d_inputs, args->d_coeffs};
    const void *states[] = {args->initial_state, args->final_state, args->d_final_state, args->d_initial_state};
    const void **needs = backward ? backward_needs : forward_needs;
    const size_t count = backward ? 5 : 3;

    if (args->num_seqs == 0 || args->seq_len == 0)
        return cudaSuccess;
    if (args->num_seqs > PTRDIFF_MAX / sizeof(float) / args->seq_len)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        if (needs[i] == NULL || (uintptr_t)needs[i] % 16 != 0)
            return cudaErrorInvalidValue;
    for (size_t i = 0; i < 4; i++)
        if ((uintptr_t)states[i] % 16 != 0)
            return cudaErrorInvalidValue;
    return backward && args->d_initial_state != NULL && args->initial_state == NULL ? cudaErrorInvalidValue
                                                                                    : cudaSuccess;
}

/* Whether any state is wanted. */
static inline bool linrec_has_states(const struct linrec_args *args)
{
    return args->initial_state != NULL || args->final_state != NULL || args->d_final_state != NULL ||
           args->d_initial_state != NULL;
}

/* The same for a launcher that takes none, and refuses them. */
static inline cudaError_t linrec_check_args(const struct linrec_args *args, bool backward)
{
    return linrec_has_states(args) ? cudaErrorInvalidValue : linrec_check_args_and_states(args, backward);
}

/* Queues all that there is to do without an element: the state that comes in goes out again, or 0. */
static inline cudaError_t linrec_finish_empty(const struct linrec_args *args, bool backward, cudaStream_t stream)
{
    const float *const from = backward ? args->d_final_state : args->initial_state;
    float *const to = backward ? args->d_initial_state : args->final_state;
    if (to == NULL || args->num_seqs == 0)
        return cudaSuccess;
    return from != NULL ? cudaMemcpyAsync(to, from, args->num_seqs * sizeof *to, cudaMemcpyDeviceToDevice, stream)
                        : cudaMemsetAsync(to, 0, args->num_seqs * sizeof *to, stream);
}

#ifdef __cplusplus
}
#endif
#endif
