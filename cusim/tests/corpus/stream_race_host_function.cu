// stopped: race: cudaLaunchHostFunc in the stream made at {there} writes byte 0
// SPDX-License-Identifier: MIT
#include "corpus.h"

static void CUDART_CB fill(void *data)
{
    float *const pinned = (float *)data;

    for (int i = 0; i < N; i++)
        pinned[i] = 1; // HERE
}

int main(void)
{
    float *x = numbers(), *pinned;
    cudaStream_t a, b;

    cudaMallocHost(&pinned, N * sizeof(*x));
    cudaStreamCreate(&a);
    cudaStreamCreate(&b); // THERE
    cudaMemcpyAsync(pinned, x, N * sizeof(*x), cudaMemcpyDeviceToHost, a);
    cudaStreamQuery(a);
    cudaLaunchHostFunc(b, fill, pinned);
    cudaDeviceSynchronize();
    return finish(x, 1, 0);
}
