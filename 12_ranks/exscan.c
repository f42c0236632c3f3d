/* SPDX-License-Identifier: MIT */
/* exscan.c - as chain, but MPI hands on: an exclusive scan over the ranks, with an operator of our own. It is
   associative, so MPI may join whichever neighbours it likes, and need not go one by one; it is not commutative, and
   MPI knows. */
#include "ranks.h"

void ranks_exscan(struct part *part)
{
    part_find_aggregates(part, 0, part->args.seq_len);
    MPI_Exscan(part->aggregates, part->before, (int)part->args.num_seqs, ranks_aggregate, ranks_join, part->comm);
    part_scan(part);
}
