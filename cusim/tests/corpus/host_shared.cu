// refused by both: function main of the host declares a __shared__ variable
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    x[threadIdx.x] = 1;
}

int main(void)
{
    float *x = numbers();
    __shared__ float s[N]; // HERE
    s[0] = 1;
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
