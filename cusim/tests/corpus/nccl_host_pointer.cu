// stopped: what is sent of ncclAllReduce is no memory of the device. Give it what cudaMalloc has given
// SPDX-License-Identifier: MIT
#include "ranks.h"

int main(void)
{
    int rank;
    float *const y = numbers(), x[N] = {};
    const ncclComm_t comm = join_ranks(1, &rank);

    ncclAllReduce(x, y, N, ncclFloat, ncclSum, comm, NULL); // HERE
    return finish(y, 0, 0);
}
