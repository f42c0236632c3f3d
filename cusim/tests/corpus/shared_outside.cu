// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

// Shared variables that stand outside of functions: each block has its own, and all of its functions see the same.
extern __shared__ float dynamic[];
namespace
{
__shared__ float tile[2][N], *chosen;
}
static __shared__ int number;

struct reader {
    int number;
    __device__ float read(int i) const
    {
        return dynamic[i] + (float)(this->number - number);
    }
};

__device__ static float from_tile(int i)
{
    return tile[1][i];
}

__global__ void kernel(float *x)
{
    const int i = threadIdx.x;
    const reader one = {7};

    dynamic[i] = x[i];
    tile[1][i] = 1;
    if (i == 0) {
        chosen = tile[1];
        number = 7;
    }
    __syncthreads();
    x[i] = dynamic[N - 1 - (N - 1 - i)] + one.read(i) + (chosen[N - 1 - i] + from_tile(i)) / 2;
}

// A parameter and a local variable may have such a name.
__global__ void other(float *dynamic, int i)
{
    __shared__ float copies[4], same[sizeof(copies) / sizeof(float)]; // the second one needs the first
    float number = same[i] = copies[i] = dynamic[i];
    dynamic[i] = number;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N, N * sizeof(float)>>>(x);
    other<<<1, 1>>>(x, 1);
    return finish(x, 2, 1);
}
