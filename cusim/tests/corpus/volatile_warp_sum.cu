// stopped: volatile does not keep the lanes of a warp in step: call __syncwarp() between them
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ volatile float sum[N];
    const int i = (int)threadIdx.x;

    sum[i] = x[i];
    __syncthreads();
    if (i < 32) {
        sum[i] += sum[i + 32]; // HERE
        sum[i] += sum[i + 16];
        sum[i] += sum[i + 8];
        sum[i] += sum[i + 4];
        sum[i] += sum[i + 2];
        sum[i] += sum[i + 1];
    }
    __syncthreads();
    x[i] = sum[0];
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
