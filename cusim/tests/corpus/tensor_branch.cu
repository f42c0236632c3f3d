// stopped: mma_sync with mask 0xffffffff waits for lane 16, whose thread has ended
// SPDX-License-Identifier: MIT
#include "corpus.h"
#include <mma.h>

using namespace nvcuda;

__global__ void kernel(float *x)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;

    wmma::fill_fragment(a, __half(1.0f));
    wmma::fill_fragment(b, __half(1.0f));
    wmma::fill_fragment(c, 0.0f);
    if (threadIdx.x < 16)
        wmma::mma_sync(c, a, b, c); // HERE
    x[threadIdx.x] = c.x[0];
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, 32>>>(x);
    return finish(x, 2, 1);
}
