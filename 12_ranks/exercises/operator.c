/* SPDX-License-Identifier: MIT */
/* 12.1  The operator

   MPI_Exscan joins what the ranks give it, in any grouping that keeps their order. MPI does not know what your
   numbers mean, so you give it a function. It gets what some ranks do together, and what the ranks right behind them
   do together; it puts into the second what all of them do:

       earlier  ranks 2 and 3             later  ranks 4 to 6             becomes  ranks 2 to 6

   Whatever y comes into a stretch, y * product + sum leaves it. There are `count` sequences, each with an aggregate of
   its own. The judge cuts sequences over up to 33 ranks and joins them in pairs, pairs of pairs and so on, as an MPI
   does that takes few steps.

   Write where it says "here". */
#include <stddef.h>

struct aggregate {
    float product, sum;
};

void join(const struct aggregate *earlier, struct aggregate *later, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        /* here: later[s] becomes what both do, one after the other */
        (void)earlier;
    }
    (void)later;
}
