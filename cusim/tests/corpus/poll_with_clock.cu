// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

// Waits for a flag that nobody sets, but not for ever: no block hangs.
__global__ void wait(volatile int *flag, float *x)
{
    const long long begin = clock64();
    while (*flag == 0 && clock64() - begin < 3000000)
        continue;
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

int main(void)
{
    float *x = numbers();
    int *flag;
    cudaMalloc(&flag, sizeof(*flag));
    cudaMemset(flag, 0, sizeof(*flag));
    wait<<<N / 16, 16>>>(flag, x);
    return finish(x, 1, 1);
}
