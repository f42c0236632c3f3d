// right
// SPDX-License-Identifier: MIT
// The brackets of a launch may stand apart, and template arguments may have shifts and brackets in them.
#include "corpus.h"

#define MASK (((1 << (2 + 1)) - 1) << 2)

template <class T, int n>
__global__ void add(T *x)
{
    x[threadIdx.x] += n;
}

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2;
}

int main(void)
{
    float *x = numbers();
    // clang-format off
    twice<< <1, N>> >(x);
    twice <<  < 1, (N >> 1) + (N >> 1) >> > (x);
    add<float, (1 << 3)><<<1, N>>>(x);
    add<float, MASK><<<1, N >> 0>>>(x);
    add<float, 1 << 2><<<1, N>>>(x);
    // clang-format on
    return finish(x, 4, 40);
}
