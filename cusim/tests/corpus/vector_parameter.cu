// refused by both: kernel kernel is given a std::vector, whose elements are in memory of the host
// SPDX-License-Identifier: MIT
#include "corpus.h"
#include <vector>

__global__ void kernel(std::vector<float> v, float *x) // HERE
{
    x[threadIdx.x] = v[threadIdx.x];
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(std::vector<float>(N), x);
    return finish(x, 0, 0);
}
