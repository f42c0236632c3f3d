// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x, uint4 *word)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            __stcg(word, make_uint4(1, 2, 0, 0));
        return;
    }
    uint4 d;
    do
        d = __ldcg(word);
    while (d.x == 0);
    x[threadIdx.x] = (float)d.y * x[threadIdx.x] + (float)d.x;
}

int main(void)
{
    float *x = numbers();
    uint4 *word;
    cudaMalloc(&word, sizeof(*word));
    cudaMemset(word, 0, sizeof(*word));
    kernel<<<2, N>>>(x, word);
    return finish(x, 2, 1);
}
