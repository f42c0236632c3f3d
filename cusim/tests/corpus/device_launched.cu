// refused by both: twice is launched, which is no kernel. Write __global__ before it
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ void twice(float *x)
{
    x[0] *= 2;
}

int main(void)
{
    float *x = numbers();
    twice<<<1, N>>>(x); // HERE
    return finish(x, 2, 1);
}
