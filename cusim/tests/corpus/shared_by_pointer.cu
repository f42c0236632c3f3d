// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

template <typename T>
__global__ void kernel(float *x)
{
    extern __shared__ __align__(8) unsigned char s[];
    T *t = reinterpret_cast<T *>(s);

    t[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = 2 * t[threadIdx.x];
}

namespace other
{
__global__ void add(float *x)
{
    extern __shared__ float s[]; /* of a namespace of its own */

    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[threadIdx.x] + 1;
}
} // namespace other

int main(void)
{
    float *x = numbers();
    kernel<float><<<1, N, N * sizeof(float)>>>(x);
    kernel<double><<<1, N, N * sizeof(double)>>>(x);
    other::add<<<1, N, N * sizeof(float)>>>(x);
    return finish(x, 4, 1);
}
