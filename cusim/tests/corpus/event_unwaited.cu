// stopped: cudaEventElapsedTime returned cudaErrorNotReady, and nobody looked at it: the events are recorded, but
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

int main(void)
{
    float *x = numbers(), milliseconds = 0;
    cudaEvent_t start, end;

    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventRecord(start);
    twice<<<1, N>>>(x);
    cudaEventRecord(end);
    cudaEventElapsedTime(&milliseconds, start, end); // HERE
    cudaEventSynchronize(end);
    return finish(x, 2, 0);
}
