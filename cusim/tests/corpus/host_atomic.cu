// right
// SPDX-License-Identifier: MIT
#include <atomic>
#include "corpus.h"

static std::atomic<int> launches(0);
static std::atomic<unsigned long long> bytes;

__global__ void twice(float *x)
{
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

int main(void)
{
    float *x = numbers();
    twice<<<1, N>>>(x);
    launches++;
    bytes.fetch_add(sizeof(float) * N);
    if (launches.load() != 1 || bytes != sizeof(float) * N)
        return 1;
    return finish(x, 2, 1);
}
