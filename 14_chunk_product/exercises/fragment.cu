/* SPDX-License-Identifier: MIT */
/* 14.5  What a lane holds

   C (m, n) = A (m, k) B (k, n), row-major; A and B in bf16, each number as its 16 bits, C in float32. m and k are
   multiples of 16, n of 8. A block is one warp, and has 16 x 8 elements of C. In a step the tensor cores multiply 16
   columns of A by 16 rows of B: mma_bf16(sum, of_a, of_b) adds their product to the warp's 16 x 8 sums (mma_sync.h). Of
   each matrix a lane holds a few elements. With l = lane / 4 and j = lane % 4 it has

               columns   2j, 2j+1   2j+8, 2j+9               column   l                     columns   2j, 2j+1
       row l             of_a[0]    of_a[2]        row 2j             of_b[0] lower half    row l     sum[0], sum[1]
       row l + 8         of_a[1]    of_a[3]        row 2j+1           of_b[0] upper half    row l+8   sum[2], sum[3]
                                                   row 2j+8           of_b[1] lower half
                                                   row 2j+9           of_b[1] upper half

   of_a and of_b are words of 32 bits with two elements each, of_a with the one of the lower column in its lower half.
   Fill them, and store the sums. Which two elements lie side by side in memory, and which do not?

   Goal: right; 8 loads of a warp for each step, and each element of A and B loaded once by the warp that needs it. No
   shuffles but the 32 that the simulator counts for a step of mma_bf16.

   Write where it says "here". It takes the simulator, or a GPU of sm_80 or later. (The judge's A is square: k is m.) */
#include <cuda_runtime.h>
#include <stdint.h>

#include "../../common/cuda/mma_sync.h"

enum { ROWS = 16, COLUMNS = 8, STEPS = 16 };

static __global__ void __launch_bounds__(32)
    product(int n, int k, const uint16_t *__restrict__ a, const uint16_t *__restrict__ b, float *__restrict__ c)
{
    const int l = threadIdx.x / 4, j = threadIdx.x % 4;
    const int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS; /* of the warp's first element of C */
    float sum[4] = {};
    for (int first = 0; first < k; first += STEPS) {
        unsigned of_a[4] = {}, of_b[2] = {};
        (void)a, (void)b; /* here */
        mma_bf16(sum, of_a, of_b);
    }
    c[(size_t)(row + l) * n + column + j] = sum[0]; /* here: all four */
}

extern "C" cudaError_t launch_fragment(int m, int n, int k, const uint16_t *a, const uint16_t *b, float *c)
{
    if (m == 0 || n == 0)
        return cudaSuccess;
    product<<<dim3(n / COLUMNS, m / ROWS), 32>>>(n, k, a, b, c);
    return cudaGetLastError();
}
