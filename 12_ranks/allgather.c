/* SPDX-License-Identifier: MIT */
/* allgather.c - as exscan, but everybody gets everybody's aggregates, and joins those that it needs. There is one
   exchange and no operator in it, and each rank receives as many aggregates as there are ranks. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

void ranks_allgather(struct part *part)
{
    const size_t count = part->args.num_seqs;
    struct aggregate *const all = malloc((size_t)part->ranks * count * sizeof *all);
    ranks_need(all == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no host memory for all ranks' aggregates");

    part_find_aggregates(part, 0, part->args.seq_len);
    MPI_Allgather(part->aggregates, (int)count, ranks_aggregate, all, (int)count, ranks_aggregate, part->comm);
    for (int r = 1; r < part->rank; r++)
        join_aggregates(all + (size_t)(r - 1) * count, all + (size_t)r * count, count);
    if (part->rank > 0)
        memcpy(part->before, all + (size_t)(part->rank - 1) * count, count * sizeof *all);
    free(all);
    part_scan(part);
}
