// stopped: has written at {there} in the default stream, and nothing orders the two. Let the host wait in between
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void fill(float *x)
{
    x[threadIdx.x] = 1; // THERE
}

int main(void)
{
    float *managed;

    cudaMallocManaged(&managed, N * sizeof(*managed));
    fill<<<1, N>>>(managed);
    printf("%g\n", managed[3]); // HERE
    cudaDeviceSynchronize();
    return 0;
}
