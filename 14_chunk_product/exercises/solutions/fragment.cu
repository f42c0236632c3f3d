/* SPDX-License-Identifier: MIT */
/* 14.5  What a lane holds */
#include <cuda_runtime.h>
#include <stdint.h>

#include "../../../common/cuda/mma_sync.h"

enum { ROWS = 16, COLUMNS = 8, STEPS = 16 };

static __global__ void __launch_bounds__(32)
    product(int n, int k, const uint16_t *__restrict__ a, const uint16_t *__restrict__ b, float *__restrict__ c)
{
    const int l = threadIdx.x / 4, j = threadIdx.x % 4;
    const int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS; /* of the warp's first element of C */
    float sum[4] = {};
    for (int first = 0; first < k; first += STEPS) {
        unsigned of_a[4], of_b[2];
        for (int i = 0; i < 4; i++) { /* neighbours in a row: one load */
            const int a_row = row + l + i % 2 * 8, a_column = first + 2 * j + i / 2 * 8;
            of_a[i] = *(const unsigned *)(a + (size_t)a_row * k + a_column);
        }
        for (int i = 0; i < 2; i++) { /* one below the other: two loads */
            const uint16_t *const from = b + (size_t)(first + 2 * j + i * 8) * n + column + l;
            of_b[i] = from[0] | (unsigned)from[n] << 16;
        }
        mma_bf16(sum, of_a, of_b);
    }
    for (int half = 0; half < 2; half++)
        *(float2 *)(c + (size_t)(row + l + half * 8) * n + column + 2 * j) =
            make_float2(sum[half * 2], sum[half * 2 + 1]);
}

extern "C" cudaError_t launch_fragment(int m, int n, int k, const uint16_t *a, const uint16_t *b, float *c)
{
    if (m == 0 || n == 0)
        return cudaSuccess;
    product<<<dim3(n / COLUMNS, m / ROWS), 32>>>(n, k, a, b, c);
    return cudaGetLastError();
}
