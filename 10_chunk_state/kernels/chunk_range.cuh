/* SPDX-License-Identifier: MIT */
/* chunk_range.cuh - which chunks a batch has, or a packed sequence:

       starts     0               3   3        5        three sequences, the second one empty
       chunks     0    1    2     3   4                                                       */
#ifndef CHUNK_RANGE_CUH
#define CHUNK_RANGE_CUH

#include <stddef.h>

struct chunk_range {
    size_t first, count; /* the first one, counted through all batches, and how many there are */
};

/* chunks: of a batch. Of numbers that are no starts the result is another, but no chunk outside of the arrays. */
static __device__ __forceinline__ struct chunk_range chunk_range_of(const int *starts, size_t seq, size_t chunks)
{
    struct chunk_range range = {seq * chunks, chunks};
    if (starts != NULL) {
        const size_t begin = (size_t)max(starts[seq], 0), end = (size_t)max(starts[seq + 1], 0);
        range.first = min(begin, chunks);
        range.count = max(min(end, chunks), range.first) - range.first;
    }
    return range;
}

#endif
