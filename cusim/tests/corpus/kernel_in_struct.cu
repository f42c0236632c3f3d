// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

__global__ void twice(float *x)
{
    x[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

struct entry {
    const char *name;
    void (*kernel)(float *);
};
static const struct entry table[] = {{"twice", twice}};

int main(void)
{
    float *x = numbers();
    const struct entry *e = table;
    e->kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
