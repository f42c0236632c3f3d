// stopped: calls a virtual function of the object at byte 0 of the 16-byte allocation
// SPDX-License-Identifier: MIT
// Host code makes the object in managed memory.
#include "corpus.h"
#include <new>

struct shape {
    float scale;
    __host__ __device__ explicit shape(float scale) : scale(scale)
    {
    }
    __host__ __device__ virtual float of(float a) const
    {
        return a * scale;
    }
};

__global__ void use(const shape *const *shapes, float *x)
{
    x[threadIdx.x] = shapes[0]->of(x[threadIdx.x]); // HERE
}

int main(void)
{
    float *x = numbers();
    shape **shapes;
    cudaMallocManaged(&shapes, sizeof(*shapes));
    cudaMallocManaged(&shapes[0], sizeof(**shapes));
    new (shapes[0]) shape(2);
    use<<<1, N>>>(shapes, x);
    return finish(x, 2, 0);
}
