// refused by both: kernel kernel uses ROOT, a variable of the host, of {there}
// SPDX-License-Identifier: MIT
#include "corpus.h"

typedef float real;
static const real ROOT = sqrtf(2); // THERE

__global__ void kernel(float *x)
{
    x[threadIdx.x] *= ROOT; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 0);
}
