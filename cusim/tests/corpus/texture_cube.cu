// refused here: texCubemap is not simulated. Of textures there are tex1Dfetch
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x, cudaTextureObject_t table)
{
    x[threadIdx.x] = texCubemap<float>(table, 1, 0, 0); // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, 0);
    return finish(x, 2, 1);
}
