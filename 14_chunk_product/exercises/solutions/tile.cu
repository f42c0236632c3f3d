/* SPDX-License-Identifier: MIT */
/* 14.1  A tile in shared memory */
#include <cuda_runtime.h>

enum { TILE = 16 };

static __global__ void __launch_bounds__(TILE *TILE)
    product(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        a_tile[y][x] = a[(size_t)i * k + first + x];
        b_tile[y][x] = b[(size_t)(first + y) * n + j];
        __syncthreads();
        for (int l = 0; l < TILE; l++)
            sum += a_tile[y][l] * b_tile[l][x];
        __syncthreads();
    }
    c[(size_t)i * n + j] = sum;
}

extern "C" cudaError_t launch_tile(int m, int n, int k, const float *a, const float *b, float *c)
{
    if (m == 0 || n == 0)
        return cudaSuccess;
    product<<<dim3(n / TILE, m / TILE), dim3(TILE, TILE)>>>(m, n, k, a, b, c);
    return cudaGetLastError();
}
