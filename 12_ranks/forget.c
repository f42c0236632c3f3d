/* SPDX-License-Identifier: MIT */
/* forget.c - as exscan, but a stretch is summed up from its end, and only as far as it matters. Where the product of
   the coefficients has become so small that no bit of what leaves depends on what came before, the rest need not be
   read:

       one stretch   |        never read twice          | piece 2 |piece 1|   the product of these is below 2^-40
       its aggregate                         (0, what leaves the pieces)

   What is left out of the sum is the product times y, the output before the pieces. When the scan has computed that,
   we look: with |product * y| <= 2^-24 |what leaves| the result is as good as if nothing had been left out (README.md
   has the proof). Otherwise all ranks begin again, and forget nothing. */
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PIECE = 1024 };
#define FORGOTTEN 0x1p-40f

static bool all_forgotten(const struct aggregate *ends, size_t count)
{
    for (size_t s = 0; s < count; s++)
        if (!(fabsf(ends[s].product) < FORGOTTEN)) /* NaN: not forgotten */
            return false;
    return true;
}

/* What the stretch's end does, from element `first` of the scan on, which is returned: 0, if all of it was
   needed. */
static size_t sum_up_from_the_end(struct part *part, struct aggregate *ends)
{
    const size_t count = part->args.num_seqs, length = part->args.seq_len;
    size_t first = length, last, piece = FIRST_PIECE;
    do {
        last = first;
        first = last > piece ? last - piece : 0;
        part_find_aggregates(part, first, last);
        if (last == length)
            memcpy(ends, part->aggregates, count * sizeof *ends);
        else
            join_aggregates(part->aggregates, ends, count);
        piece *= 2;
    } while (first > 0 && !all_forgotten(ends, count));
    return first;
}

/* Whether what came into the ends, times their products, may be more than a rounding of what left them. It knows only
   after the scan. */
static bool has_doubts(struct part *part, size_t first, const struct aggregate *ends)
{
    const size_t count = part->args.num_seqs;
    double *const dropped = malloc(count * sizeof *dropped);
    bool doubts = dropped == NULL;
    const float *column = part_column(part, part->backward ? part->args.d_inputs : part->args.outputs, first - 1);
    for (size_t s = 0; s < count && !doubts; s++)
        dropped[s] = (double)ends[s].product * column[s];
    if (part->backward) { /* an element hands on its result times its coefficient */
        column = part_column(part, part->args.coeffs, first - 1);
        for (size_t s = 0; s < count && !doubts; s++)
            dropped[s] *= column[s];
    }
    column = part_left(part);
    for (size_t s = 0; s < count && !doubts; s++)
        doubts = !(fabs(dropped[s]) <= 0x1p-24 * fabs(column[s])); /* NaN: a doubt */
    free(dropped);
    return doubts;
}

void ranks_forget(struct part *part)
{
    const size_t count = part->args.num_seqs;
    struct aggregate *const ends = malloc(count * sizeof *ends);
    ranks_need(ends == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no host memory for aggregates");

    const size_t first = sum_up_from_the_end(part, ends);
    for (size_t s = 0; s < count; s++)
        part->aggregates[s] = (struct aggregate){first > 0 ? 0.0f : ends[s].product, ends[s].sum};
    MPI_Exscan(part->aggregates, part->before, (int)count, ranks_aggregate, ranks_join, part->comm);
    part_scan(part);

    /* No rank needs what the last stretch does. */
    int doubts = first > 0 && part->rank < part->ranks - 1 && has_doubts(part, first, ends);
    MPI_Allreduce(MPI_IN_PLACE, &doubts, 1, MPI_INT, MPI_LOR, part->comm);
    free(ends);
    if (doubts)
        ranks_exscan(part);
}
