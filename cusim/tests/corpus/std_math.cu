// right
// SPDX-License-Identifier: MIT
// Of the host's std there are in a kernel: mathematics, what tells special numbers apart, and move.
#include <cmath>
#include <limits>
#include <utility>

#include "corpus.h"

__global__ void kernel(float *x, float zero)
{
    float a = std::move(x[threadIdx.x]);
    const float large = 1 / zero, none = zero / zero;
    const bool right = std::isinf(large) && std::isnan(none) && !std::isfinite(none) && std::signbit(-large) &&
                       !std::isinf(a) && isnan(none) && std::abs(-2) == 2 && std::fmax(none, 3.0f) == 3 &&
                       std::sqrt(4.0f) == 2;
    x[threadIdx.x] = std::fma(a, 2.0f, std::floor(right + 0.5f));
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, 0);
    return finish(x, 2, 1);
}
