// right
// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include "corpus.h"

namespace cg = cooperative_groups;

__global__ void kernel(float *x)
{
    __shared__ __align__(16) float first[N / 2], second[N / 2];
    cg::thread_block block = cg::this_thread_block();
    const unsigned i = threadIdx.x;

    cg::memcpy_async(block, first, x, sizeof(first));
    cg::memcpy_async(block, second, N / 2, x + N / 2, N / 2);
    cg::wait_prior<1>(block);
    const float low = first[i % (N / 2)];
    cg::wait(block);
    x[i] = 2 * (i < N / 2 ? low : second[i - N / 2]) + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
