// stopped: reads byte 8 of the 1024-byte allocation made at tests/corpus/unwritten_member.cu:26, which nothing has
// SPDX-License-Identifier: MIT
#include "corpus.h"

struct Body {
    int id;
    double mass; // at byte 8
};

__global__ void make(Body *bodies)
{
    bodies[threadIdx.x].id = threadIdx.x;
}

__global__ void use(float *x, const Body *bodies)
{
    const Body body = bodies[threadIdx.x]; // HERE
    x[threadIdx.x] = (float)body.mass;
}

int main(void)
{
    float *x = numbers();
    Body *bodies;

    cudaMalloc(&bodies, N * sizeof(*bodies));
    make<<<1, N>>>(bodies);
    use<<<1, N>>>(x, bodies);
    return finish(x, 1, 0);
}
