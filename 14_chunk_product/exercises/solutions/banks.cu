/* SPDX-License-Identifier: MIT */
/* 14.4  A matrix that is given as its transpose */
#include <cuda_runtime.h>

enum { TILE = 32, PAD = 1 };

static __global__ void __launch_bounds__(TILE *TILE)
    product(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE + PAD];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = blockIdx.y * TILE + y, column = blockIdx.x * TILE;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        a_tile[y][x] = a[(size_t)i * k + first + x];
        b_tile[y][x] = b[(size_t)(column + y) * k + first + x];
        __syncthreads();
        for (int l = 0; l < TILE; l++)
            sum += a_tile[y][l] * b_tile[x][l];
        __syncthreads();
    }
    c[(size_t)i * n + column + x] = sum;
}

extern "C" cudaError_t launch_banks(int m, int n, int k, const float *a, const float *b, float *c)
{
    if (m == 0 || n == 0)
        return cudaSuccess;
    product<<<dim3(n / TILE, m / TILE), dim3(TILE, TILE)>>>(m, n, k, a, b, c);
    return cudaGetLastError();
}
