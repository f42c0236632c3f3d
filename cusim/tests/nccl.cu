/* SPDX-License-Identifier: MIT */
/* nccl.cu - three ranks, of which the last one does something else, as the argument says (nccl.t). Each rank says when
   it is done. */
#include "corpus/ranks.h"

#include <signal.h>
#include <string.h>

enum { RANKS = 3 };

int main(int argc, char **argv)
{
    const char *const how = argc > 1 ? argv[1] : "right";
    int rank;
    ncclUniqueId id;
    cudaStream_t stream;

    if (strcmp(how, "absent") == 0 || strcmp(how, "id") == 0) {
        ncclComm_t comm;
        ncclGetUniqueId(&id);
        memset(id.internal, 0, strcmp(how, "id") == 0 ? sizeof(id.internal) : 0);
        return ncclCommInitRank(&comm, RANKS, id, 0);
    }
    if (strcmp(how, "twice") == 0) {
        ncclComm_t comms[2];
        ncclGetUniqueId(&id);
        ncclCommInitRank(&comms[0], 1, id, 0);
        return ncclCommInitRank(&comms[1], 1, id, 0);
    }
    const ncclComm_t comm = join_ranks(RANKS, &rank);
    float *const x = numbers();
    cudaStreamCreate(&stream);
    if (rank == RANKS - 1 && strcmp(how, "stopped") == 0)
        raise(SIGSTOP);
    if (rank == RANKS - 1 && strcmp(how, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(how, "streams") == 0) { /* each in another order: they are done in the order in which they were asked */
        cudaStream_t other;
        cudaStreamCreate(&other);
        ncclAllReduce(x, x, N, ncclFloat, ncclSum, comm, other);
        cudaDeviceSynchronize();
        ncclAllReduce(x, x, N / 2, ncclFloat, ncclSum, comm, other);
        ncclAllReduce(x + N / 2, x + N / 2, N / 2, ncclFloat, ncclMax, comm, stream);
        cudaStreamSynchronize(rank == 0 ? stream : other);
        cudaStreamSynchronize(rank == 0 ? other : stream);
    } else
        ncclAllReduce(x, x, N, ncclFloat, rank == RANKS - 1 && strcmp(how, "op") == 0 ? ncclMax : ncclSum, comm,
                      stream);
    if (rank == RANKS - 1 && strcmp(how, "unwaited") == 0)
        _exit(0);
    cudaStreamSynchronize(stream);
    ncclCommDestroy(comm);
    printf("rank %d is done\n", rank);
    fflush(stdout);
    if (rank > 0)
        _exit(0);
    return part_ranks(RANKS, rank);
}
