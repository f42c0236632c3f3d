// stopped: has written at {there} in the default stream, and nothing orders the two
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void fill(float *x)
{
    x[threadIdx.x] = 1; // THERE
}

int main(void)
{
    float *pinned;

    cudaHostAlloc(&pinned, N * sizeof(*pinned), cudaHostAllocMapped);
    fill<<<1, N>>>(pinned);
    printf("%g\n", pinned[3]); // HERE
    cudaDeviceSynchronize();
    return 0;
}
