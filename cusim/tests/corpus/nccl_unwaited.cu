// stopped: race: ncclAllReduce in the stream made at {there} writes byte 0
// SPDX-License-Identifier: MIT
#include "ranks.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2; // on a GPU before the sum, behind it or in between
}

int main(void)
{
    int rank;
    float *const x = numbers(), *const sum = numbers();
    cudaStream_t a, b;
    const ncclComm_t comm = join_ranks(1, &rank);

    cudaStreamCreate(&a); // THERE
    cudaStreamCreate(&b);
    ncclAllReduce(x, sum, N, ncclFloat, ncclSum, comm, a); // HERE
    twice<<<1, N, 0, b>>>(sum);
    cudaDeviceSynchronize();
    return finish(sum, 2, 0);
}
