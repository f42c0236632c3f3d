// refused by both: kernel kernel uses thread_local, which does not exist on a GPU
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    static thread_local int count; // HERE
    x[threadIdx.x] = (float)count++;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
