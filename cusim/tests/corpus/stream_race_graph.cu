// stopped: which the kernel launched at tests/corpus/stream_race_graph.cu:26 has written
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2; // HERE
}

int main(void)
{
    float *x = numbers();
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t run;

    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, a);
    cudaStreamWaitEvent(b, fork, 0);
    twice<<<1, N, 0, a>>>(x);
    twice<<<1, N, 0, b>>>(x);
    cudaEventRecord(join, b);
    cudaStreamWaitEvent(a, join, 0);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, a);
    cudaStreamSynchronize(a);
    return finish(x, 4, 0);
}
