// stopped: cudaMemcpy gets the host's address of table[0], a variable of the device, which on a GPU has another one.
// SPDX-License-Identifier: MIT
#include "corpus.h"

__constant__ float table[4];

__global__ void add(float *x)
{
    x[threadIdx.x] += table[threadIdx.x % 4];
}

int main(void)
{
    const float host[4] = {1, 1, 1, 1};
    float *x = numbers();
    cudaMemcpy(table, host, sizeof(host), cudaMemcpyHostToDevice); // HERE
    add<<<1, N>>>(x);
    return finish(x, 1, 1);
}
