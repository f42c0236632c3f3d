/* SPDX-License-Identifier: MIT */
/* 14.3  Where the tile hangs over

   C (m, n) = A (m, k) B (k, n), row-major, in tiles of 16 x 16 as in 14.1. Now m, n and k are any numbers, and each of
   the three may end within a tile:

                              B   +--------+  n
                                  | tile : |              what lies behind a line is not there: in A and B that may be
                                k.|......:.|              the next row's numbers, or another array's, or nobody's
                                  |      : |
          A            k          +--------+
          +-------------:---+     +--------+
          | tile        :   |     | c    : |
        m.|.............:...|   m.|......:.|
          +-------------:---+     +--------+

   What must stand in the tiles, so that the loop over their 16 steps needs no question? Which threads must be at the
   barriers? And a row of A that holds a NaN must not spoil another row.

   Goal: right for all sizes, with as many barriers and bytes as before.

   Write where it says "here". (The judge takes k = m + 5.) */
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
        a_tile[y][x] = a[(size_t)i * k + first + x];   /* here */
        b_tile[y][x] = b[(size_t)(first + y) * n + j]; /* here */
        __syncthreads();
        for (int l = 0; l < TILE; l++)
            sum += a_tile[y][l] * b_tile[l][x];
        __syncthreads();
    }
    c[(size_t)i * n + j] = sum; /* here */
}

extern "C" cudaError_t launch_boundary(int m, int n, int k, const float *a, const float *b, float *c)
{
    if (m == 0 || n == 0)
        return cudaSuccess;
    const dim3 blocks(n / TILE, m / TILE); /* here */
    product<<<blocks, dim3(TILE, TILE)>>>(m, n, k, a, b, c);
    return cudaGetLastError();
}
