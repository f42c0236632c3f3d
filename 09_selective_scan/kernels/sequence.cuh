/* SPDX-License-Identifier: MIT */
/* sequence.cuh - where a sequence lies in the rows of its arrays, for steps.cu, fused_steps.cu and
   steps_backward.cu. A kernel goes through
   packed sequences as through batches, each with a length of its own:

       starts   0              3  3       5         three sequences, the second one empty
       row      u0   u1   u2   u3   u4              of a channel: sequence 0 has 3 steps from 0 on, 2 has 2 from 3 on */
#ifndef SEQUENCE_CUH
#define SEQUENCE_CUH

#include "../operation/arguments.h"

struct sequence {
    size_t batch, begin, length; /* the batch of the arrays' rows, the first step there, and how many there are */
};

/* Of packed sequences args->batch is their number here. Numbers that are no starts lead to no step outside of a row. */
static __device__ __forceinline__ struct sequence sequence_of(const struct selective_args *args, size_t number)
{
    struct sequence sequence = {number, 0, args->seq_len};
    if (args->starts != NULL) {
        const size_t last = args->seq_len;
        const size_t begin = (size_t)max(args->starts[number], 0), end = (size_t)max(args->starts[number + 1], 0);
        sequence.batch = 0;
        sequence.begin = min(begin, last);
        sequence.length = max(min(end, last), sequence.begin) - sequence.begin;
    }
    return sequence;
}

#endif
