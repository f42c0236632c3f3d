/* SPDX-License-Identifier: MIT */
/* 12.4  Everybody's aggregates

   After MPI_Allgather each rank has the aggregates of all ranks, of every sequence one:

       all   | rank 0: count aggregates | rank 1: count aggregates | rank 2: count aggregates | ...

   Whatever y comes into a stretch, y * product + sum leaves it. What comes into this rank? Nothing comes into rank 0:
   write 0 there. There may be a thousand ranks, so do not store what you can carry along.

   Write where it says "here". */
#include <stddef.h>

struct aggregate {
    float product, sum;
};

/* comes_in[s]: what comes into rank `rank` in sequence s. */
void fold(const struct aggregate *all, size_t rank, size_t count, float *comes_in)
{
    for (size_t s = 0; s < count; s++) {
        float y = 0.0f;
        /* here: what leaves one rank comes into the next */
        (void)all, (void)rank;
        comes_in[s] = y;
    }
}
