/* SPDX-License-Identifier: MIT */
/* nccl.c - as allgather, but the aggregates never leave the devices: NCCL's kernels hand them on, and one of ours joins
   those that come before this rank. The host queues all of it, and waits once, at the end.

       allgather   aggregates | wait | to the host | MPI | joined there | to the device | scan
       nccl        aggregates | NCCL | join_ranks | scan | wait                                 */
#include "ranks.h"

#ifdef HAS_NCCL
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

/* comms[d][n]: of the first pass in direction d in which n ranks took part, kept for all later ones. */
static ncclComm_t *comms[2];

static void need(ncclResult_t result, const char *what)
{
    int rank;
    if (result == ncclSuccess)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "12_ranks: rank %d: %s: %s (%s)\n", rank, what, ncclGetErrorString(result), ncclGetLastError(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* NCCL's communicator of the ranks of part->comm, in the same order. They all call it. */
static ncclComm_t comm_of(const struct part *part)
{
    ncclComm_t **const of_direction = &comms[part->args.reverse != part->backward];
    int world;
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    if (*of_direction == NULL)
        *of_direction = calloc((size_t)world + 1, sizeof **of_direction);
    ranks_need(*of_direction == NULL ? cudaErrorMemoryAllocation : cudaSuccess, "no memory for communicators");
    ncclComm_t *const comm = *of_direction + part->ranks;
    if (*comm == NULL) {
        ncclUniqueId id;
        if (part->rank == 0)
            need(ncclGetUniqueId(&id), "ncclGetUniqueId");
        MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, part->comm);
        ranks_watch("ncclCommInitRank");
        need(ncclCommInitRank(comm, part->ranks, id, part->rank), "ncclCommInitRank");
        ranks_unwatch();
    }
    return *comm;
}

void ranks_nccl_end(void)
{
    int world;
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    ranks_watch("ncclCommDestroy");
    for (int d = 0; d < 2; d++) {
        for (int r = 0; r <= world && comms[d] != NULL; r++)
            if (comms[d][r] != NULL)
                ncclCommDestroy(comms[d][r]);
        free(comms[d]);
    }
    ranks_unwatch();
}

/* What fetch_edges of part.c does, on the device. The neighbour's outputs come to part->edges. This rank's own are
   first put side by side, in part->ends, which is free until the scan writes d_initial_state there. */
static void queue_edges(struct part *part, ncclComm_t comm)
{
    const size_t count = part->args.num_seqs;
    part_queue_column(part, part->ends, part->args.outputs, 0);
    need(ncclGroupStart(), "ncclGroupStart");
    if (part->rank > 0) {
        need(ncclSend(part->ends, count, ncclFloat, part->rank - 1, comm, NULL), "ncclSend");
        messages_count(count * sizeof(float));
    }
    if (part->rank < part->ranks - 1)
        need(ncclRecv(part->edges, count, ncclFloat, part->rank + 1, comm, NULL), "ncclRecv");
    need(ncclGroupEnd(), "ncclGroupEnd");
}

/* Until the device is done, or NCCL has noticed that it never will be. */
static void wait_for(ncclComm_t comm)
{
    ncclResult_t state = ncclSuccess;
    cudaError_t error;
    while ((error = cudaStreamQuery(NULL)) == cudaErrorNotReady && (state == ncclSuccess || state == ncclInProgress))
        need(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
    need(error == cudaErrorNotReady ? state : ncclSuccess, "NCCL has failed");
    ranks_need(error, "a kernel failed");
}

void ranks_nccl(struct part *part)
{
    const size_t count = part->args.num_seqs;
    const ncclComm_t comm = comm_of(part);
    part_launch_aggregates(part, 0, part->args.seq_len);
    ranks_watch("NCCL");
    need(ncclAllGather(part->device_aggregates, part->device_all, 2 * count, ncclFloat, comm, NULL), "ncclAllGather");
    messages_count(count * sizeof(struct aggregate));
    if (part->backward)
        queue_edges(part, comm);
    if (part->rank > 0)
        ranks_need(carries_launch(part->rank, count, part->device_all, part->carries, NULL), "a launch failed");
    part_queue_scan(part);
    wait_for(comm);
    ranks_unwatch();
}

#else
void ranks_nccl_end(void)
{
}
#endif
