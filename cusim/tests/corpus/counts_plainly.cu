// stopped: Blocks run in any order, or at once. This line reads and writes: let atomicAdd or its kin do both at once
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    if (threadIdx.x == 0)
        x[0] += 1; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<2, N>>>(x);
    return finish(x, 2, 1);
}
