/* SPDX-License-Identifier: MIT */
/* walk.h - how a kernel walks through time: from the first step on, or from the last one back. Position p of a walk is
   step p, or step seq_len - 1 - p; so direction is where an array begins and the sign of its step, and nothing else.

       from the first                                      from the last
       base -> step 0   +0                                         step 0   -3 step
               step 1   +1 step                                    step 1   -2 step
               step 2   +2 step                                    step 2   -1 step
               step 3   +3 step                            base -> step 3   -0                                      */
#ifndef LAYOUT_WALK_H
#define LAYOUT_WALK_H

#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array as a walk meets it: what batch b has at position p lies b * batch + p * step bytes behind base. */
struct walked {
    char *base;
    long long batch, step;
};

/* What is common to a walk's arrays. */
struct walk {
    long long seq_len, channels;
    long long num_seqs; /* sequences: batches, or packed ones */
    const int *starts;  /* NULL: not packed */
    bool from_last, log_coeffs;
};

/* The arrays of a pass that have a row for each step: forward inputs, coeffs, outputs; backward d_outputs, coeffs,
   outputs, d_inputs, d_coeffs. */
struct layout_rows {
    const void *base[5];
    struct layout_strides by[5];
    int count;
};
struct layout_rows layout_rows_of(const struct layout_args *args, bool backward);

/* Whether the type is one, and the elements of all arrays can be counted. */
bool layout_sizes_fit(const struct layout_args *args);

/* cudaErrorInvalidValue for arguments of a pass that no launcher can take. */
cudaError_t layout_check(const struct layout_args *args, bool backward);

/* Checks the arguments of a pass. Where there is nothing to compute, it does what is left to do with the states, and
   sets *done. */
cudaError_t layout_begin(const struct layout_args *args, bool backward, cudaStream_t stream, bool *done);

/* The walk of a pass, which backward goes against time. */
struct walk walk_of(const struct layout_args *args, bool backward);

/* One of its arrays. */
struct walked walked_of(const struct walk *walk, const struct layout_args *args, const void *array,
                        struct layout_strides by);

/* The strides that are meant, where 0 stands for no gaps. */
struct layout_strides strides_of(const struct layout_args *args, struct layout_strides by);

/* How many neighbouring channels all arrays of a pass allow to be loaded at once: a power of two, at most `most`. Their
   bases and strides are aligned to so many elements, and so many divide the channels. */
int layout_width(const struct layout_args *args, bool backward, int most);

#ifdef __cplusplus
}
#endif
#endif
