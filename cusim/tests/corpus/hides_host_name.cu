// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

static int count = 3;
static float *table;

static float twice(float x)
{
    return 7 * x;
}

__global__ void kernel(float *x, int count)
{
    float table[2] = {1, 2}, one = table[0];
    const struct {
        float twice;
    } s = {table[count - 1]};

    x[threadIdx.x] = s.twice * x[threadIdx.x] + one;
}

int main(void)
{
    float *x = numbers();
    if (twice((float)count) != 21 || table != NULL)
        return 1;
    kernel<<<1, N>>>(x, 2);
    return finish(x, 2, 1);
}
