/* SPDX-License-Identifier: MIT */
/* 11.4  A graph

   A signal repeats itself. Round after round the same sequence goes through a filter, in steps of 16 elements, and the
   state goes on from step to step and from round to round:

       round 0   | step 0 | step 1 | step 2 | ...          each step is a launch, and a thread in it
       round 1   | step 0 | step 1 | step 2 | ...          outputs: those of the last round

   The program below is right, and launches rounds times steps kernels, which takes the host longer than the kernels
   take. All rounds launch the same kernels with the same arguments. So write one round down, as a graph, and launch
   that.

       cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);    from here on nothing runs,
       ...                                                                  what is launched is written down
       cudaStreamEndCapture(stream, &graph);                                a cudaGraph_t
       cudaGraphInstantiate(&exec, graph, 0);                               a cudaGraphExec_t, ready to be launched
       cudaGraphLaunch(exec, stream);                                       all of it runs, as often as you launch it
       cudaGraphDestroy(graph); cudaGraphExecDestroy(exec);

   Goal: at most 60 calls for 30 rounds of 10 steps, each still a launch. The program below makes 301.

   Write where it says "here". `state` is on the device, and 0 at the beginning. */
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
    /* here: the same launches, written down once and launched as a whole */
    for (size_t round = 0; round < rounds; round++)
        for (size_t begin = 0; begin < seq_len; begin += STEPS)
            step<<<1, 1, 0, stream>>>(begin, begin + STEPS < seq_len ? begin + STEPS : seq_len, inputs, coeffs, outputs,
                                      state);
    cudaStreamSynchronize(stream);
    return cudaGetLastError();
}
