// right
// SPDX-License-Identifier: MIT
// a template of the host's finds its own square() by its argument's type: the device's is another one
#include "corpus.h"

struct device_number {
    float value;
};
template <class T>
__device__ device_number square(device_number a, T b)
{
    return {a.value * (float)b};
}

namespace elsewhere
{
struct number {
    float value;
};
static number square(number a, int b)
{
    return {a.value * (float)b};
}
} // namespace elsewhere

template <class Number>
static Number on_host(Number a)
{
    return square(a, 2);
}

__global__ void kernel(float *x)
{
    x[threadIdx.x] = square(device_number{x[threadIdx.x]}, 2).value + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, on_host(elsewhere::number{1}).value, 1);
}
