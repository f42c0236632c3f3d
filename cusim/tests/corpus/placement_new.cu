// right
// SPDX-License-Identifier: MIT
// A kernel makes objects in memory that it has, and calls their virtual functions. As nvcc does, it knows <new>.
#include "corpus.h"

struct shape {
    float scale;
    __device__ explicit shape(float scale) : scale(scale)
    {
    }
    __device__ virtual float of(float a) const
    {
        return a * scale;
    }
    __device__ virtual ~shape()
    {
    }
};
struct shifted : shape {
    float by;
    __device__ shifted(float scale, float by) : shape(scale), by(by)
    {
    }
    __device__ float of(float a) const override
    {
        return shape::of(a) + by;
    }
};

__global__ void make(shape **shapes, char *memory)
{
    if (threadIdx.x == 0)
        shapes[0] = new (memory) shape(2);
    if (threadIdx.x == 1)
        shapes[1] = new (memory + 64) shifted(2, 0);
}

__global__ void use(shape **shapes, float *x)
{
    __shared__ alignas(16) char memory[sizeof(shifted)];
    if (threadIdx.x == 0)
        new (memory) shifted(1, 3);
    __syncthreads();
    const shape *const last = (const shape *)memory;
    x[threadIdx.x] = last->of(shapes[threadIdx.x % 2]->of(x[threadIdx.x]));
    __syncthreads();
    if (threadIdx.x < 2)
        shapes[threadIdx.x]->~shape();
}

int main(void)
{
    float *x = numbers();
    shape **shapes;
    char *memory;
    cudaMalloc(&shapes, 2 * sizeof(*shapes));
    cudaMalloc(&memory, 128);
    make<<<1, 2>>>(shapes, memory);
    use<<<1, N>>>(shapes, x);
    return finish(x, 2, 3);
}
