// right
// SPDX-License-Identifier: MIT
// Host code has arrays whose size is known when it runs (an extension of g++, which nvcc leaves to it).
#include "corpus.h"

__global__ void kernel(float *x)
{
    x[threadIdx.x] *= 2;
}

template <class T>
static T sum_of_ones(int n)
{
    T ones[n], sum = 0;
    for (int i = 0; i < n; i++)
        ones[i] = 1;
    for (int i = 0; i < n; i++)
        sum += ones[i];
    return sum;
}

int main(void)
{
    int count = 0;
    cudaGetDeviceCount(&count);
    cudaDeviceProp properties[count];
    for (int i = 0; i < count; i++)
        cudaGetDeviceProperties(&properties[i], i);
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, properties[0].warpSize == 32 ? sum_of_ones<float>(count) - (float)count : 1);
}
