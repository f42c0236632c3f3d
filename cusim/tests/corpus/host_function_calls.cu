// stopped: cudaMemset returned cudaErrorNotPermitted, and nobody looked at it: a stream has called this function of the
// SPDX-License-Identifier: MIT
#include "corpus.h"

static void clear(void *x)
{
    cudaMemset(x, 0, sizeof(float)); // HERE
}

int main(void)
{
    float *x = numbers();
    cudaStream_t stream;

    cudaStreamCreate(&stream);
    cudaLaunchHostFunc(stream, clear, x);
    cudaStreamSynchronize(stream);
    return finish(x, 1, 0);
}
