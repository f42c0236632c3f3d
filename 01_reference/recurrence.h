/* SPDX-License-Identifier: MIT */
/* recurrence.h - chapter 01 for others: the loop over one sequence, and the launchers over many.

   The loop is written once, in loop_body.h, and compiled for float and for double. */
#ifndef RECURRENCE_H
#define RECURRENCE_H

#include "../common/linrec/linrec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sequence, all arrays of length seq_len and not overlapping.

       y[0] = x[0],   y[l] = y[l-1] * c[l] + x[l]

   With reverse, the same from the last element to the first: y[L-1] = x[L-1], y[l] = y[l+1] * c[l] + x[l]. The
   coefficient of the first element that the loop meets is never read. seq_len 0 touches nothing. */
void seq_forward_float(size_t seq_len, bool reverse, const float *inputs, const float *coeffs, float *outputs);
void seq_forward_double(size_t seq_len, bool reverse, const double *inputs, const double *coeffs, double *outputs);

/* The gradients of the loop above, run with the same `reverse`. outputs is what the loop wrote, d_outputs the gradient
   of a loss with respect to it. The loop runs the other way:

       d_inputs[l] = d_inputs[l+1] * c[l+1] + d_outputs[l],   d_coeffs[l] = y[l-1] * d_inputs[l],   d_coeffs[0] = 0

   (with reverse, l+1 and l-1 change places). Nothing outside the sequence is read, nor the unused coefficient. */
void seq_backward_float(size_t seq_len, bool reverse, const float *d_outputs, const float *coeffs, const float *outputs,
                        float *d_inputs, float *d_coeffs);
void seq_backward_double(size_t seq_len, bool reverse, const double *d_outputs, const double *coeffs,
                         const double *outputs, double *d_inputs, double *d_coeffs);

/* Launchers on host memory; the stream is ignored, and they return when the result is there. */
linrec_launcher cpu_loop_forward, cpu_loop_backward;
linrec_launcher cpu_plain_threads_forward; /* not reversed */
linrec_launcher cpu_threads_forward, cpu_threads_backward;

/* On how many threads the last two run: all online cores but at least 2, or what was set. Setting 0 returns to the
   cores. More than CPU_MAX_THREADS are not used. Not to be changed while a launcher runs. */
enum { CPU_MAX_THREADS = 256 };
size_t cpu_threads_count(void);
void cpu_threads_set(size_t count);

/* Bytes of workspace that cpu_threads_* need. */
size_t cpu_threads_workspace(const struct linrec_args *args);

/* Which thread computes element (seq, pos), as text. */
void cpu_threads_owner(const struct linrec_args *args, size_t seq, size_t pos, char *text, size_t size);

extern const struct linrec_kernel chapter01_kernels[];

#ifdef __cplusplus
}
#endif
#endif
