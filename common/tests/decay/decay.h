/* SPDX-License-Identifier: MIT */
/* decay.h - a small operation for the tests of the harness: sums that leak, the leak of a column shared by all rows.

       y[r, 0] = start[r] * decay[0] + x[r, 0],   y[r, c] = y[r, c-1] * decay[c] + x[r, c]

   x, y (rows, columns), decay (columns), start, last (rows); without start it is 0. last is y of the last column, or
   start if there is none. With `negated` each decay is taken with the other sign. Backward, given d_y:

       d_x[r, c] = d_x[r, c+1] * decay[c+1] + d_y[r, c]      from the last column to the first
       d_decay[c] = sum over r of y[r, c-1] * d_x[r, c]      y[r, -1]: start[r]
       d_start[r] = d_x[r, 0] * decay[0]                                                                              */
#ifndef DECAY_H
#define DECAY_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../base/dtype.h"
#include "../../harness/kernel_info.h"

#ifdef __cplusplus
extern "C" {
#endif

struct decay_args {
    size_t rows, columns;
    bool negated;
    enum dtype dtype; /* of x, y, d_y and d_x; all others are float32 */
    int threads;      /* of a block; 0: the kernel chooses */
    const void *x;
    const float *decay, *start;
    void *y;     /* forward writes, backward reads */
    float *last; /* or NULL */
    const void *d_y;
    void *d_x;
    float *d_decay, *d_start;
    float *workspace;
};

typedef cudaError_t decay_launcher(const struct decay_args *args, cudaStream_t stream);

/* A row of the table. It ends with a row whose info.name is NULL. */
struct decay_kernel {
    struct kernel_info info;
    decay_launcher *forward, *backward; /* NULL: not offered */
    size_t max_columns;                 /* 0: any */
    bool has_workspace;                 /* as many floats as x has elements */
};

/* One thread a row; backward then one thread a column. */
decay_launcher decay_serial_forward, decay_serial_backward;

/* The same in blocks of as many threads as --config says; backward with all products in the workspace. */
decay_launcher decay_blocks_forward, decay_blocks_backward;

/* Computes nothing: a partial kernel. */
decay_launcher decay_empty_forward;

/* Each makes one mistake. */
decay_launcher decay_no_start_forward, decay_no_sign_forward, decay_no_pair_forward, decay_no_last_forward,
    decay_past_forward, decay_changes_forward, decay_cut_forward;
decay_launcher decay_late_backward, decay_lost_row_backward, decay_dirty_backward;

#ifdef __cplusplus
}
#endif
#endif
