// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

template <class T>
__global__ void scale(T *x, T factor)
{
    x[threadIdx.x] = factor * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    scale<<<1, N>>>(x, 2.0f);
    return finish(x, 2, 1);
}
