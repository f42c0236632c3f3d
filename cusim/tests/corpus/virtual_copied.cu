// right
// SPDX-License-Identifier: MIT
// A kernel makes an object, and others call its function where it has been copied to. Host code has objects of that
// class, too.
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

__global__ void make(void *memory)
{
    new (memory) shape(2);
}

__global__ void use(const shape *s, float *x)
{
    x[threadIdx.x] = s->of(x[threadIdx.x]);
}

int main(void)
{
    float *x = numbers();
    const shape *volatile host = new shape(1);
    shape *first, *second;
    cudaMalloc(&first, sizeof(*first));
    cudaMalloc(&second, sizeof(*second));
    make<<<1, 1>>>(first);
    cudaMemcpy((void *)second, (const void *)first, sizeof(*first), cudaMemcpyDeviceToDevice);
    use<<<1, N>>>(second, x);
    return finish(x, 2 * host->of(1), 0);
}
