// refused by both: kernel kernel uses std::sort, which is the host's
// SPDX-License-Identifier: MIT
#include <algorithm>
#include "corpus.h"

__global__ void kernel(float *x)
{
    std::sort(x, x + N); // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
