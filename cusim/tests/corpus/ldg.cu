// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void turn(const float *from, float *to)
{
    to[threadIdx.x] = __ldg(&from[N - 1 - threadIdx.x]);
}

int main(void)
{
    float *x = numbers(), *y = numbers();
    turn<<<1, N>>>(x, y); // what one launch has written the next one may read so
    turn<<<1, N>>>(y, x);
    return finish(x, 1, 0);
}
