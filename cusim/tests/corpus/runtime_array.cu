// refused by both: the size of the array s is not known when the program is compiled
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x, int n)
{
    float s[n]; // HERE

    s[0] = x[threadIdx.x];
    x[threadIdx.x] = 2 * s[0] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, N);
    return finish(x, 2, 1);
}
