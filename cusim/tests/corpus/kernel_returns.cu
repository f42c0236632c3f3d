// refused by both: kernel twice returns something. Write void
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ int twice(float *x) // HERE
{
    x[threadIdx.x] *= 2;
    return 0;
}

int main(void)
{
    float *x = numbers();
    twice<<<1, N>>>(x);
    return finish(x, 2, 1);
}
