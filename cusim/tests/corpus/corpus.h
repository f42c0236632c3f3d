/* SPDX-License-Identifier: MIT */
/* corpus.h - shared by the small programs of this folder. Each makes N numbers 0, 1, 2 ... on the device, runs a
   kernel, and says whether number i has become factor * i + plus. The first line of each says what must come of it
   (corpus.t). */
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 64 };

static inline float *numbers(void)
{
    float host[N], *device;

    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    if (cudaMalloc(&device, sizeof(host)) != cudaSuccess)
        return NULL;
    cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
    return device;
}

static inline int finish(const float *device, float factor, float plus)
{
    float host[N];
    bool right = cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost) == cudaSuccess;

    for (int i = 0; i < N; i++)
        right = right && host[i] == factor * (float)i + plus;
    puts(right ? "right" : "wrong");
    return !right;
}
