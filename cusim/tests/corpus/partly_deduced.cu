// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

template <int count, class T>
__global__ void add(T *x)
{
    for (int i = 0; i < count; i++)
        x[threadIdx.x] += x[threadIdx.x] + i;
}

int main(void)
{
    float *x = numbers();
    add<1><<<1, N>>>(x);
    return finish(x, 2, 0);
}
