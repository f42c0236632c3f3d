// right
// SPDX-License-Identifier: MIT
// what nvcc takes of C++'s library in a kernel
#include "corpus.h"
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <utility>

template <class T>
__device__ T twice(T &&a)
{
    static_assert(cuda::std::is_same<float, typename cuda::std::remove_reference<T>::type>::value, "");
    return a < cuda::std::numeric_limits<float>::max() ? 2 * std::forward<T>(a) : a;
}

__global__ void kernel(float *x)
{
    float a = x[threadIdx.x];
    x[threadIdx.x] = twice(std::move(a)) + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
