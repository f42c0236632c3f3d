/* SPDX-License-Identifier: MIT */
/* 11.4  A graph */
#include <cuda_runtime.h>

enum { STEPS = 16 };

static __global__ void step(size_t begin, size_t end, const float *inputs, const float *coeffs, float *outputs,
                            float *state)
{
    float y = *state;
    for (size_t l = begin; l < end; l++) {
        y = y * coeffs[l] + inputs[l];
        outputs[l] = y;
    }
    *state = y;
}

extern "C" cudaError_t run_rounds(size_t rounds, size_t seq_len, const float *inputs, const float *coeffs,
                                  float *outputs, float *state, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    for (size_t begin = 0; begin < seq_len; begin += STEPS)
        step<<<1, 1, 0, stream>>>(begin, begin + STEPS < seq_len ? begin + STEPS : seq_len, inputs, coeffs, outputs,
                                  state);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);

    for (size_t round = 0; round < rounds; round++)
        cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(exec);
    return cudaGetLastError();
}
