// right
// SPDX-License-Identifier: MIT
// A graph that was not made, in a variable that nobody has set, is an error, and no crash.
#include "corpus.h"

int main(void)
{
    int none;
    cudaGraphExec_t run = (cudaGraphExec_t)&none;

    if (cudaGraphLaunch(run, 0) != cudaErrorInvalidValue || cudaGraphExecDestroy(run) != cudaErrorInvalidValue)
        return 1;
    return finish(numbers(), 1, 0);
}
