// refused by both: the size of the shared array s is not known when the program is compiled
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x, int n)
{
    __shared__ float s[n]; // HERE

    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = 2 * s[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, N);
    return finish(x, 2, 1);
}
