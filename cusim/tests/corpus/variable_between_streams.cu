// stopped: race: in the stream made at tests/corpus/variable_between_streams.cu:19 it writes total, which
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ int total;

__global__ void set(void)
{
    if (threadIdx.x == 0)
        total = 1; // HERE
}

int main(void)
{
    float *x = numbers();
    int *host;
    cudaStream_t a, b;

    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMallocHost(&host, sizeof(*host));
    set<<<1, N, 0, a>>>();
    cudaMemcpyFromSymbolAsync(host, total, sizeof(*host), 0, cudaMemcpyDeviceToHost, b);
    cudaDeviceSynchronize();
    return finish(x, 1, 0);
}
