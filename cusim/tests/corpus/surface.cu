// right
// SPDX-License-Identifier: MIT
// an array that one kernel writes as a surface, and another reads
#include "corpus.h"

__global__ void fill(cudaSurfaceObject_t surface)
{
    surf2Dwrite(2.0f * (float)threadIdx.x, surface, (int)(threadIdx.x * sizeof(float)), 0);
}

__global__ void kernel(float *x, cudaSurfaceObject_t surface)
{
    x[threadIdx.x] = surf2Dread<float>(surface, (int)(threadIdx.x * sizeof(float)), 0) + 1;
}

int main(void)
{
    float *x = numbers();
    cudaSurfaceObject_t surface = 0;
    cudaResourceDesc resource = {};
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();

    resource.resType = cudaResourceTypeArray;
    cudaMallocArray(&resource.res.array.array, &channels, N, 1, cudaArraySurfaceLoadStore);
    cudaCreateSurfaceObject(&surface, &resource);
    fill<<<1, N>>>(surface);
    kernel<<<1, N>>>(x, surface);
    return finish(x, 2, 1);
}
