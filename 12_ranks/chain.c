/* SPDX-License-Identifier: MIT */
/* chain.c - chapter 08's three passes, with ranks in place of tiles. All ranks find out at the same time what their
   stretches do; then each waits for the rank before it, and hands on to the next.

       sum up   | rank 0 | rank 1 | rank 2 | rank 3 |
       hand on   0 ------> 1 -----> 2 -----> 3              ranks - 1 messages, one after the other
       scan     | rank 0 | rank 1 | rank 2 | rank 3 |                                              */
#include "ranks.h"

void ranks_chain(struct part *part)
{
    const int count = (int)part->args.num_seqs, last = part->ranks - 1;
    part_find_aggregates(part, 0, part->args.seq_len);
    if (part->rank > 0) {
        MPI_Recv(part->before, count, ranks_aggregate, part->rank - 1, 0, part->comm, MPI_STATUS_IGNORE);
        join_aggregates(part->before, part->aggregates, part->args.num_seqs);
    }
    if (part->rank < last)
        MPI_Send(part->aggregates, count, ranks_aggregate, part->rank + 1, 0, part->comm);
    part_scan(part);
}
