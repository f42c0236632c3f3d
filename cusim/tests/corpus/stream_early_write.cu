// stopped: allocation made at tests/corpus/stream_early_write.cu:10, which cudaMemcpyAsync at {there} reads
// SPDX-License-Identifier: MIT
#include "corpus.h"

int main(void)
{
    float *x = numbers(), *pinned;
    cudaStream_t a;

    cudaMallocHost(&pinned, N * sizeof(*x));
    cudaStreamCreate(&a);
    for (int i = 0; i < N; i++)
        pinned[i] = (float)i;
    cudaMemcpyAsync(x, pinned, N * sizeof(*x), cudaMemcpyHostToDevice, a); // THERE
    pinned[5] = 7;                                                         // HERE
    cudaStreamSynchronize(a);
    return finish(x, 1, 0);
}
