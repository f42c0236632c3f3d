// right
// SPDX-License-Identifier: MIT
// Of two kernels of one name one is declared only, and one kernel is declared in other words than it is defined.
#include "corpus.h"

__global__ void kernel(float *x, int n);
__global__ void kernel(float *x, float factor, int n);
__global__ void add(float *, unsigned int, const int);

__global__ void kernel(float *x, float factor, int n)
{
    if ((int)threadIdx.x < n)
        x[threadIdx.x] *= factor;
}
__global__ void add(float x[], unsigned n, int m)
{
    if (x != NULL)
        x[threadIdx.x] += (float)(n + m);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, 2.0f, N);
    add<<<1, N>>>(x, 2, 1);
    add<<<1, N>>>(NULL, 2, 1);
    return finish(x, 2, 3);
}
