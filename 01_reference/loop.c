/* SPDX-License-Identifier: MIT */
/* loop.c - the recurrence as a plain loop: for float, for double, and the launchers over many sequences. */
#include "recurrence.h"

#define real float
#define seq_forward seq_forward_float
#define seq_backward seq_backward_float
#include "loop_body.h"
#undef real
#undef seq_forward
#undef seq_backward

#define real double
#define seq_forward seq_forward_double
#define seq_backward seq_backward_double
#include "loop_body.h"
#undef real
#undef seq_forward
#undef seq_backward

cudaError_t cpu_loop_forward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, false);
    (void)stream;
    if (error != cudaSuccess || args->seq_len == 0)
        return error;

    for (size_t s = 0; s < args->num_seqs; s++) {
        const size_t row = s * args->seq_len;
        seq_forward_float(args->seq_len, args->reverse, args->inputs + row, args->coeffs + row, args->outputs + row);
    }
    return cudaSuccess;
}

cudaError_t cpu_loop_backward(const struct linrec_args *args, cudaStream_t stream)
{
    const cudaError_t error = linrec_check_args(args, true);
    (void)stream;
    if (error != cudaSuccess || args->seq_len == 0)
        return error;

    for (size_t s = 0; s < args->num_seqs; s++) {
        const size_t row = s * args->seq_len;
        seq_backward_float(args->seq_len, args->reverse, args->d_outputs + row, args->coeffs + row, args->outputs + row,
                           args->d_inputs + row, args->d_coeffs + row);
    }
    return cudaSuccess;
}
