// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__device__ static int twice(int i)
{
    return 2 * i;
}

template <class T>
__global__ void kernel(T *x)
{
    extern __shared__ float given[][2];
    float __shared__ own[N];
    const int i = (int)threadIdx.x;

    given[i / 2][i % 2] = x[i];
    own[i] = 1;
    __syncthreads();
    x[twice(i) / 2] = 2 * given[i / 2][i % 2] + own[N - 1 - i];
}

template __global__ void kernel<float>(float *x);

int main(void)
{
    float *x = numbers();
    kernel<float><<<1, N, N * sizeof(float)>>>(x);
    return finish(x, 2, 1);
}
