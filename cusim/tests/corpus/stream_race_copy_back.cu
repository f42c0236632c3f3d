// stopped: race: cudaMemcpyAsync in the stream made at {there} reads byte 0
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

int main(void)
{
    float *x = numbers(), *pinned;
    cudaStream_t a, b;

    cudaMallocHost(&pinned, N * sizeof(*x));
    cudaStreamCreate(&a);
    cudaStreamCreate(&b); // THERE
    twice<<<1, N, 0, a>>>(x);
    cudaStreamQuery(a);
    cudaMemcpyAsync(pinned, x, N * sizeof(*x), cudaMemcpyDeviceToHost, b); // HERE
    cudaStreamSynchronize(b);
    return finish(x, 2, 0);
}
