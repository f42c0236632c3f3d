// right
// SPDX-License-Identifier: MIT
// Whoever has waited for the device, a stream, an event or a copy may ask how long it took.
#include "corpus.h"

__global__ void plus_one(float *x)
{
    x[threadIdx.x] += 1;
}

static bool is_known(int by, float *x)
{
    float milliseconds = -1, word;
    cudaEvent_t start, end;

    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventRecord(start);
    plus_one<<<1, N>>>(x);
    cudaEventRecord(end);
    if (by == 0)
        cudaDeviceSynchronize();
    if (by == 1)
        cudaStreamSynchronize(0);
    if (by == 2)
        cudaEventSynchronize(end);
    if (by == 3)
        cudaMemcpy(&word, x, sizeof(word), cudaMemcpyDeviceToHost);
    while (by == 4 && cudaEventQuery(end) == cudaErrorNotReady)
        ;
    return cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess && milliseconds >= 0;
}

int main(void)
{
    float *x = numbers();

    for (int by = 0; by < 5; by++)
        if (!is_known(by, x))
            return 1;
    return finish(x, 1, 5);
}
