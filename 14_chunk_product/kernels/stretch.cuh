/* SPDX-License-Identifier: MIT */
/* stretch.cuh - the steps of a block (layer_cut.h). Here stretches have 4 steps, and two packed sequences 6 and 3:

       starts           0                 6           9         Sequence s has the numbers from starts[s] / len + s on:
       steps            0  1  2  3  4  5  6  7  8               here those from 0 on, and from 6 / 4 + 1 = 2 on.
       stretches       [    0    ][  1  ][   2   ]              Number 3 has no steps.

   These numbers suffice. The n steps of a sequence need n / len of them, rounded up. It has one more, since s + 1
   follows s, than (starts[s] + n) / len - starts[s] / len, which is at least n / len, if all are rounded down. */
#ifndef LAYER_STRETCH_CUH
#define LAYER_STRETCH_CUH

#include <cuda_runtime.h>

#include "layer_cut.h"

struct stretch {
    size_t seq, first, steps; /* a part of sequence `seq`; its first step, counted from the first one of all */
    size_t number;            /* of the stretch */
    bool begins, ends;        /* it is the sequence's first one, its last one */
};

/* Where a packed sequence begins, or the one before it ends. Of numbers that are no starts the result is another, but
   nothing outside of the arrays is read or written. */
static __device__ __forceinline__ size_t start_of(const struct layer_args *args, size_t seq)
{
    const int start = args->starts[seq], end = (int)args->seq_len;
    return start < 0 ? 0 : start < end ? start : end;
}

/* The first number of a sequence's stretches. */
static __device__ __forceinline__ size_t first_stretch(const struct layer_args *args, const struct layer_cut *cut,
                                                       size_t seq)
{
    return args->starts != NULL ? start_of(args, seq) / cut->len + seq : seq * (cut->count / args->batch);
}

/* The last sequence whose first stretch is not behind this one. */
static __device__ __forceinline__ size_t sequence_of(const struct layer_args *args, const struct layer_cut *cut,
                                                     size_t number)
{
    size_t low = 0, high = layer_num_seqs(args);
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        if (first_stretch(args, cut, middle) <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A whole sequence, as the only stretch that it has. */
static __device__ __forceinline__ struct stretch whole_sequence(const struct layer_args *args, size_t seq)
{
    const size_t first = args->starts != NULL ? start_of(args, seq) : seq * args->seq_len;
    const size_t end = args->starts != NULL ? start_of(args, seq + 1) : first + args->seq_len;
    return {seq, first, end > first ? end - first : 0, seq, true, true};
}

/* The stretch of this number. One without steps neither begins nor ends, unless its sequence is empty. */
static __device__ __forceinline__ struct stretch stretch_of(const struct layer_args *args, const struct layer_cut *cut,
                                                            size_t number)
{
    const size_t seq = sequence_of(args, cut, number);
    const struct stretch whole = whole_sequence(args, seq);
    const size_t before = (number - first_stretch(args, cut, seq)) * cut->len;
    if (before != 0 && before >= whole.steps)
        return {seq, whole.first, 0, number, false, false};
    const size_t left = whole.steps - before;
    return {seq, whole.first + before, left < cut->len ? left : cut->len, number, before == 0, left <= cut->len};
}

#endif
