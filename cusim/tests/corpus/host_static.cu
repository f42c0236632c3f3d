// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

struct counter {
    int count;
    counter() : count(1)
    {
    }
    virtual ~counter()
    {
    }
};

static struct counter *the_counter(void)
{
    static struct counter counter;
    return &counter;
}

__global__ void twice(float *x, float plus)
{
    x[threadIdx.x] = 2 * x[threadIdx.x] + plus;
}

int main(void)
{
    float *x = numbers();
    twice<<<1, N>>>(x, (float)the_counter()->count);
    return finish(x, 2, 1);
}
