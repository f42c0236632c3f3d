/* SPDX-License-Identifier: MIT */
/* overlap.c - as exscan, but the sequences go in groups: the aggregates of one group travel while the GPU finds those
   of the next, and the first group is scanned while the aggregates of the last one travel.

       GPU       | sum up 0 | sum up 1 | sum up 2 | sum up 3 | scan 0 | scan 1 | scan 2 | scan 3 |
       network              | 0 |      | 1 |      | 2 |      | 3 |                                   */
#include "ranks.h"

enum { GROUPS = 4 }; /* ranks_group makes no more */

void ranks_overlap(struct part *part)
{
    const size_t num_seqs = part->args.num_seqs, each = ranks_group(num_seqs);
    struct part groups[GROUPS];
    cudaEvent_t found[GROUPS];
    MPI_Request travel[GROUPS];
    int count = 0;

    for (size_t s = 0; s < num_seqs; s += each, count++) {
        groups[count] = part_of_seqs(part, s, s + each < num_seqs ? s + each : num_seqs);
        part_queue_aggregates(&groups[count], 0, part->args.seq_len);
        ranks_need(cudaEventCreateWithFlags(&found[count], cudaEventDisableTiming), "no event");
        ranks_need(cudaEventRecord(found[count], NULL), "no event");
    }
    for (int g = 0; g < count; g++) {
        ranks_need(cudaEventSynchronize(found[g]), "a kernel failed");
        MPI_Iexscan(groups[g].aggregates, groups[g].before, (int)groups[g].args.num_seqs, ranks_aggregate, ranks_join,
                    part->comm, &travel[g]);
    }
    for (int g = 0; g < count; g++) {
        MPI_Wait(&travel[g], MPI_STATUS_IGNORE);
        part_scan(&groups[g]);
        cudaEventDestroy(found[g]);
    }
}
