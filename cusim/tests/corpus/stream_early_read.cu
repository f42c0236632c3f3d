// stopped: which cudaMemcpyAsync at {there} writes in the stream made at
// SPDX-License-Identifier: MIT
#include "corpus.h"

int main(void)
{
    float *x = numbers(), *pinned;
    cudaStream_t a;

    cudaMallocHost(&pinned, N * sizeof(*x));
    cudaStreamCreate(&a);
    cudaMemcpyAsync(pinned, x, N * sizeof(*x), cudaMemcpyDeviceToHost, a); // THERE
    printf("%g\n", pinned[3]);                                             // HERE
    cudaStreamSynchronize(a);
    return finish(x, 1, 0);
}
