// right
// SPDX-License-Identifier: MIT
// a table in device memory, fetched by its index; a matrix, fetched between its elements
#include "corpus.h"

__global__ void kernel(float *x, cudaTextureObject_t table, cudaTextureObject_t matrix)
{
    const int i = (int)threadIdx.x;
    const float row0 = tex2D<float>(matrix, (float)(i % 8) + 0.5f, 0.5f);    // i % 8
    const float between = tex2D<float>(matrix, (float)(i % 8) + 0.5f, 1.0f); // the mean of rows 0 and 1: + 4
    const float outside = tex2D<float>(matrix, -3.0f, 0.5f) + tex2D<float>(matrix, 99.0f, 0.5f); // 0 + 7

    x[i] = 2 * tex1Dfetch<float>(table, i) + (between - row0) - 4 + outside - 6;
}

int main(void)
{
    float *x = numbers(), *table = numbers(), host[2][8];
    cudaTextureObject_t textures[2] = {0, 0};
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaArray_t array;
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();

    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = table;
    resource.res.linear.desc = channels;
    resource.res.linear.sizeInBytes = N * sizeof(float);
    cudaCreateTextureObject(&textures[0], &resource, &desc, NULL);

    for (int i = 0; i < 16; i++)
        host[i / 8][i % 8] = (float)i;
    cudaMallocArray(&array, &channels, 8, 2);
    cudaMemcpy2DToArray(array, 0, 0, host, sizeof(host[0]), sizeof(host[0]), 2, cudaMemcpyHostToDevice);
    resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    desc.filterMode = cudaFilterModeLinear;
    cudaCreateTextureObject(&textures[1], &resource, &desc, NULL);

    kernel<<<1, N>>>(x, textures[0], textures[1]);
    return finish(x, 2, 1);
}
