// refused by both: kernel kernel uses table, a variable of the host
// SPDX-License-Identifier: MIT
#include "corpus.h"

static const float table[] = {1, 2};

__global__ void kernel(float *x)
{
    x[threadIdx.x] = table[threadIdx.x % 2]; // HERE
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
