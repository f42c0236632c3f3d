// right
// SPDX-License-Identifier: MIT
#include "corpus.h"

#include <string.h>

// A copy of a struct takes along the bytes between its members, which nobody writes.
struct Body {
    int id;
    double mass; // four bytes of padding before it
    short kinds[3];
    struct {
        char mark;
        int number;
    } inner;
};

__global__ void make(Body *bodies)
{
    Body *body = &bodies[threadIdx.x];
    body->id = threadIdx.x;
    body->mass = 1;
    for (short &kind : body->kinds)
        kind = 2;
    body->inner.mark = 3;
    body->inner.number = 4;
}

__global__ void use(float *x, const Body *bodies, const Body *managed, const int *ids)
{
    __shared__ Body turned[N];
    turned[N - 1 - threadIdx.x] = bodies[threadIdx.x];
    __syncthreads();
    const Body body = turned[N - 1 - threadIdx.x], other = managed[threadIdx.x];
    x[threadIdx.x] = (float)(body.id + other.id) + (float)body.mass + (float)ids[threadIdx.x];
}

int main(void)
{
    float *x = numbers();
    Body *bodies, *managed;
    int *ids;

    cudaMalloc(&bodies, N * sizeof(*bodies));
    cudaMallocManaged(&managed, N * sizeof(*managed));
    cudaMallocManaged(&ids, N * sizeof(*ids));
    for (int i = 0; i < N; i++)
        managed[i].id = i;
    memset(ids, 0xff, N * sizeof(*ids)); // by the C library, which nobody watches
    make<<<1, N>>>(bodies);
    use<<<1, N>>>(x, bodies, managed, ids);
    return finish(x, 2, 0);
}
