// right
// SPDX-License-Identifier: MIT
// A kernel may use the value of a constant of the host whose value is known when the program is compiled.
#include "corpus.h"

typedef float real;
using number = unsigned;
enum parity { EVEN, ODD };
struct limits {
    int low, high;
};

static const real TWO = 2.0f;
const number FIRST = 0;
const parity WANTED = ODD;
constexpr limits RANGE = {0, 3};
const limits OTHERS = {1, 4};
constexpr auto HALF = 0.5f;
const auto THREE = 3;
const real FOUR = TWO * 2;
const size_t BYTES = sizeof(limits);

__global__ void kernel(float *x)
{
    x[FIRST + threadIdx.x] *= TWO * FOUR * HALF;                        /* 4 */
    x[threadIdx.x] += WANTED + RANGE.high + OTHERS.low + THREE + BYTES; /* 16 */
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 4, 16);
}
