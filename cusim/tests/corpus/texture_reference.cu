// refused by both: there are no texture references since CUDA 12. Make a texture object with cudaCreateTextureObject
// SPDX-License-Identifier: MIT
#include "corpus.h"

texture<float, 1, cudaReadModeElementType> table; // HERE

__global__ void kernel(float *x)
{
    x[threadIdx.x] = tex1Dfetch(table, threadIdx.x);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 1, 0);
}
