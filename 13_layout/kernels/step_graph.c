/* SPDX-License-Identifier: MIT */
/* step_graph.c - see kernels.h */
#include "kernels.h"

cudaError_t layout_step_layers(const struct step_args *layers, size_t num_layers, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t layer = 0; layer < num_layers && error == cudaSuccess; layer++)
        error = layout_step(&layers[layer], stream);
    return error;
}

cudaError_t layout_step_graph(const struct step_args *layers, size_t num_layers, cudaGraphExec_t *exec)
{
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    *exec = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), ended;
    if (error != cudaSuccess)
        return error;
    error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        error = layout_step_layers(layers, num_layers, stream); /* nothing runs: each launch is written down */
        ended = cudaStreamEndCapture(stream, &graph);
        error = error != cudaSuccess ? error : ended;
    }
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(exec, graph, 0);
    if (graph != NULL)
        cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return error;
}
