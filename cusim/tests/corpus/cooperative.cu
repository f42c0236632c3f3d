// right
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include "corpus.h"

__global__ void kernel(float *x)
{
    cooperative_groups::this_thread_block().sync();
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
