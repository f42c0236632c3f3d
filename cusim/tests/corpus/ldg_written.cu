// stopped: writes byte 0 of the 256-byte allocation made at tests/corpus/corpus.h:16, which this launch reads by
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    const float own = __ldg(&x[threadIdx.x]);
    x[threadIdx.x] = 2 * own; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 0);
}
