/* SPDX-License-Identifier: MIT */
/* 14.2  Sixteen elements a thread

   C (m, n) = A (m, k) B (k, n), row-major; m, n and k are multiples of 64. A block of 16 x 16 threads has a tile of
   64 x 64 elements of C. Thread (x, y) has 4 x 4 of these, 16 rows and 16 columns apart:

       columns   x     x + 16    x + 32    x + 48
       rows
       y         c       c         c         c           a step l of the tiles gives 16 products,
       y + 16    c       c         c         c           of 4 numbers of A: a_tile[y + 16 i][l]
       y + 32    c       c         c         c           and of 4 of B:     b_tile[l][x + 16 j]
       y + 48    c       c         c         c

   The kernel is right. But for each of the 16 products it takes two numbers from shared memory, 32 in all. (`volatile`
   makes the compiler do what is written. It may go.)

   Goal: 8 numbers from shared memory for 16 products: `work' at most 60 at 64 x 64 with k = 64, not 133.

   Write where it says "here". (The judge's A is square: k is m.) */
#include <cuda_runtime.h>

enum { SIDE = 16, OWN = 4, TILE = SIDE * OWN, STEPS = 16 };

static __global__ void __launch_bounds__(SIDE *SIDE)
    product(int m, int n, int k, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    __shared__ volatile float a_tile[TILE][STEPS], b_tile[STEPS][TILE];
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
        for (int i = 0; i < OWN; i++) /* here */
            for (int j = 0; j < OWN; j++)
                for (int l = 0; l < STEPS; l++)
                    sum[i][j] += a_tile[y + i * SIDE][l] * b_tile[l][x + j * SIDE];
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
