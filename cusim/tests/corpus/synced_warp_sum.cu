// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void kernel(float *x)
{
    __shared__ volatile float sum[N];
    const int i = (int)threadIdx.x;

    sum[i] = 1;
    __syncthreads();
    for (int step = 16; step > 0; step /= 2) {
        const float other = i < 32 ? sum[i + step] : 0;
        __syncwarp();
        if (i < 32)
            sum[i] += other;
        __syncwarp();
    }
    __syncthreads();
    x[i] = sum[0] / 16 * x[i] + 1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
