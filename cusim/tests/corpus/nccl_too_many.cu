// stopped: the destination of ncclAllGather is byte 0 of the 256-byte allocation
// SPDX-License-Identifier: MIT
// The count of an ncclAllGather is what each rank sends.
#include "ranks.h"

int main(void)
{
    int rank;
    float *const x = numbers(), *const all = numbers();
    const ncclComm_t comm = join_ranks(2, &rank);

    if (rank == 1) // the other one ends before it has asked for anything
        return 0;
    ncclAllGather(x, all, N, ncclFloat, comm, NULL); // HERE
    return finish(all, 1, 0);
}
