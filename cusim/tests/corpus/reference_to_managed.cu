// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

struct line {
    float factor, plus;
};

__global__ void apply(float *x, const line &l, int &runs)
{
    x[threadIdx.x] = l.factor * x[threadIdx.x] + l.plus;
    if (threadIdx.x == 0)
        runs++;
}

int main(void)
{
    float *x = numbers();
    line *l;
    int *runs;

    cudaMallocManaged(&l, sizeof(*l));
    cudaMallocManaged(&runs, sizeof(*runs));
    *l = {2, 1};
    *runs = 0;
    apply<<<1, N>>>(x, *l, *runs);
    cudaDeviceSynchronize();
    return *runs == 1 ? finish(x, 2, 1) : 1;
}
