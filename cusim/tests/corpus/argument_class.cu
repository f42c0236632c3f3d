// right
// SPDX-License-Identifier: MIT
// An argument that knows when it is copied and destroyed: the host's copies do, the device's are bytes,
// and each thread has its own.
#include "corpus.h"

static int made, destroyed;

struct span {
    float *x;
    int size;
    span(float *x, int size) : x(x), size(size)
    {
    }
    span(const span &other) : x(other.x), size(other.size)
    {
        made++;
    }
    ~span()
    {
        destroyed++;
    }
};

__global__ void twice(span s, int n)
{
    if ((int)threadIdx.x < s.size)
        s.x[threadIdx.x] *= (float)n;
    s.size = 0; /* in this thread's copy */
}
template <class T>
__global__ void add(span s, T n)
{
    s.x[threadIdx.x] += n;
}

int main(void)
{
    float *x = numbers();
    {
        span s(x, N);
        twice<<<1, N>>>(s, 2);
        add<<<1, N>>>(s, 3.0f);
        cudaDeviceSynchronize();
    }
    return finish(x, 2, destroyed == made + 1 && made <= 8 ? 3 : 0);
}
