// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

/* A graph that could not be captured is an error wherever it is used, and no crash. */
static bool is_refused(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t run = NULL;
    bool refused = cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported;

    refused = refused && cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState && graph == NULL;
    refused = refused && cudaGraphInstantiate(&run, graph, 0) == cudaErrorInvalidValue && run == NULL;
    refused = refused && cudaGraphLaunch(run, stream) == cudaErrorInvalidValue;
    refused = refused && cudaGraphExecDestroy(run) == cudaErrorInvalidValue;
    return refused && cudaGraphDestroy(graph) == cudaErrorInvalidValue;
}

int main(void)
{
    float *x = numbers();
    cudaStream_t stream;

    cudaStreamCreate(&stream);
    if (!is_refused(stream))
        return 1;
    twice<<<1, N, 0, stream>>>(x);
    cudaStreamSynchronize(stream);
    return finish(x, 2, 0);
}
