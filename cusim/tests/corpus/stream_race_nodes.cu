// stopped: which cudaGraphAddKernelNode at {there} has written
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2; // HERE
}

int main(void)
{
    float *x = numbers();
    void *arguments[] = {&x};
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaGraphNode_t first, second, third;
    cudaKernelNodeParams kernel = {};

    kernel.func = (void *)twice;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(N);
    kernel.kernelParams = arguments;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&first, graph, NULL, 0, &kernel);
    cudaGraphAddKernelNode(&second, graph, NULL, 0, &kernel);
    cudaGraphAddKernelNode(&third, graph, &second, 1, &kernel); // THERE
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, 0);
    cudaGraphLaunch(run, 0);
    cudaDeviceSynchronize();
    return finish(x, 64, 0);
}
