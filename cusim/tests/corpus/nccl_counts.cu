// stopped: rank 1 has called ncclAllReduce of 32 ncclFloat32 by ncclSum, and this rank, 0, ncclAllReduce of 64
// SPDX-License-Identifier: MIT
#include "ranks.h"

int main(void)
{
    int rank;
    const ncclComm_t comm = join_ranks(2, &rank);
    float *const x = numbers();

    ncclAllReduce(x, x, rank == 0 ? N : N / 2, ncclFloat, ncclSum, comm, NULL); // HERE
    cudaDeviceSynchronize();
    return 0;
}
