// right
// SPDX-License-Identifier: MIT
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include "corpus.h"

__global__ void kernel(float *x)
{
    cuda::std::array<float, 2> factors{1, 2};
    const cuda::std::complex<float> turn = cuda::std::complex<float>(0, 1) * cuda::std::complex<float>(0, -1);
    const cuda::std::span<float> all(x, N);
    const auto pair = cuda::std::make_tuple(1.0f, 2);
    static_assert(cuda::std::is_same<decltype(factors)::value_type, float>::value, "");
    if (cuda::std::numeric_limits<float>::max() > 1 && all.size() == N)
        all[threadIdx.x] = all[threadIdx.x] * factors[1] * turn.real() + cuda::std::get<0>(pair);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
