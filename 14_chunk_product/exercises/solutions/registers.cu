/* SPDX-License-Identifier: MIT */
/* 14.2  Sixteen elements a thread */
#include <cuda_runtime.h>

enum { SIDE = 16, OWN = 4, TILE = SIDE * OWN, STEPS = 16 };

static __global__ void __launch_bounds__(SIDE *SIDE)
    product(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ float a_tile[TILE][STEPS], b_tile[STEPS][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int thread = y * SIDE + x;
    const size_t row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum[OWN][OWN] = {};
    for (int first = 0; first < k; first += STEPS) {
        for (int p = 0; p < OWN; p++) {
            a_tile[y + p * SIDE][x] = a[(row + p * SIDE) * k + first + x];
            const int step = thread / TILE + p * OWN, place = thread % TILE; /* a row of 64 are two warps */
            b_tile[step][place] = b[(size_t)(first + step) * n + blockIdx.x * TILE + place];
        }
        __syncthreads();
        for (int l = 0; l < STEPS; l++) {
            float of_a[OWN], of_b[OWN];
            for (int p = 0; p < OWN; p++) {
                of_a[p] = a_tile[y + p * SIDE][l];
                of_b[p] = b_tile[l][x + p * SIDE];
            }
            for (int i = 0; i < OWN; i++)
                for (int j = 0; j < OWN; j++)
                    sum[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++)
            c[(row + i * SIDE) * n + column + j * SIDE] = sum[i][j];
}

extern "C" cudaError_t launch_registers(int m, int n, int k, const float *a, const float *b, float *c)
{
    if (m == 0 || n == 0)
        return cudaSuccess;
    product<<<dim3(n / TILE, m / TILE), dim3(SIDE, SIDE)>>>(m, n, k, a, b, c);
    return cudaGetLastError();
}
