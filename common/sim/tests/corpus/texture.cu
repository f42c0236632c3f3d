// refused here: cudaTextureObject_t is of textures or surfaces, which are not simulated. Give the kernel a pointer
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x, cudaTextureObject_t table) // HERE
{
    x[threadIdx.x] = tex1Dfetch<float>(table, (int)threadIdx.x);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, 0);
    return finish(x, 2, 1);
}
