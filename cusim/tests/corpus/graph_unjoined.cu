// stopped: cudaStreamEndCapture returned cudaErrorStreamCaptureUnjoined, and nobody looked at it: a stream that has
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

int main(void)
{
    float *x = numbers();
    cudaStream_t stream, other;
    cudaGraph_t graph;
    cudaEvent_t fork;

    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    cudaEventCreate(&fork);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(other, fork, 0);
    twice<<<1, N, 0, other>>>(x);
    cudaStreamEndCapture(stream, &graph); // HERE
    return graph == NULL ? 0 : finish(x, 1, 0);
}
