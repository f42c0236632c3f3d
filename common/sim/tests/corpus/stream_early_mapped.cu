// stopped: which the kernel launched at common/sim/tests/corpus/stream_early_mapped.cu:15 has written at {there} in the default stream
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
