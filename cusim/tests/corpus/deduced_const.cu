// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

template <class T>
__global__ void add(const T *x, T *y)
{
    y[threadIdx.x] = y[threadIdx.x] + x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    float *y = numbers();
    add<<<1, N>>>(y, x);
    return finish(x, 2, 1);
}
