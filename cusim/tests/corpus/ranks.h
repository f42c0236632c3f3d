/* SPDX-License-Identifier: MIT */
/* ranks.h - for the programs with NCCL: several processes, each of which is one rank. When rank 0 ends, so do the
   others, as with mpirun. */
#include "corpus.h"

#include <nccl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The communicator of `ranks` processes: this one, which is rank 0, and others that it starts. */
static inline ncclComm_t join_ranks(int ranks, int *rank)
{
    ncclUniqueId id;
    ncclComm_t comm;

    *rank = 0;
    if (ncclGetUniqueId(&id) != ncclSuccess)
        exit(1);
    for (int r = 1; r < ranks && *rank == 0; r++)
        if (fork() == 0) {
            *rank = r;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        }
    if (ncclCommInitRank(&comm, ranks, id, *rank) != ncclSuccess)
        exit(1);
    return comm;
}

/* Rank 0 waits for the others; their number that did not end with status 0. */
static inline int part_ranks(int ranks, int rank)
{
    int wrong = 0, status;

    for (int r = 1; r < ranks && rank == 0; r++)
        wrong += wait(&status) < 0 || status != 0;
    return wrong;
}
