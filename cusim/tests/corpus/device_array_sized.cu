// refused by both: the size of the array table is not known when the program is compiled
// SPDX-License-Identifier: MIT
#include "corpus.h"

struct square {
    __device__ float of(float a, int n) const
    {
        float table[n]; // HERE
        table[0] = a * a;
        return table[0];
    }
};

__global__ void kernel(float *x, int n)
{
    x[threadIdx.x] = square().of(x[threadIdx.x], n);
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x, 2);
    return finish(x, 1, 0);
}
