/* SPDX-License-Identifier: MIT */
/* 07.1  A baseline */
#include <cuda_runtime.h>

static __global__ void baseline(size_t n, const float *__restrict__ a, const float *__restrict__ b,
                                const float *__restrict__ c, float *__restrict__ ab, float *__restrict__ bc)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= n) {
        const float4 x = *(const float4 *)(a + i), y = *(const float4 *)(b + i), z = *(const float4 *)(c + i);
        *(float4 *)(ab + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        *(float4 *)(bc + i) = make_float4(y.x + z.x, y.y + z.y, y.z + z.z, y.w + z.w);
    } else {
        for (size_t j = i; j < n; j++) {
            const float y = b[j];
            ab[j] = a[j] + y;
            bc[j] = y + c[j];
        }
    }
}

extern "C" cudaError_t launch_baseline(size_t n, const float *a, const float *b, const float *c, float *ab, float *bc)
{
    const size_t threads = 256, blocks = (n + 4 * threads - 1) / (4 * threads);
    if (n == 0)
        return cudaSuccess;
    baseline<<<(unsigned)blocks, (unsigned)threads>>>(n, a, b, c, ab, bc);
    return cudaGetLastError();
}
