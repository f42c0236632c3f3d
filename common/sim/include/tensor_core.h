/* tensor_core.h - stands in for common/tensor_core.h and its PTX: the sum of a step's eight products and c is exact, and
   then rounded toward zero. */
#ifndef TENSOR_CORE_H
#define TENSOR_CORE_H

#include "cuda_runtime.h"

/* x without the bits that tf32 does not have. */
SIM_INLINE float sim_tf32(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xFFFFE000u);
}

/* Toward zero. */
SIM_INLINE float sim_truncate(double x)
{
    const float y = (float)x;
    return fabs((double)y) > fabs(x) ? nextafterf(y, 0.0f) : y;
}

/* c += a b. Each lane finds the elements that it needs at those that have them. */
SIM_INLINE void mma_tf32(float c[4], const float a[4], const float b[2])
{
    const int lane = threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
    double sum[4] = {c[0], c[1], c[2], c[3]};
    for (int k = 0; k < 8; k++) {
        const float left = sim_tf32(__shfl_sync(0xFFFFFFFFu, a[k / 4 * 2], row + k % 4));
        const float below = sim_tf32(__shfl_sync(0xFFFFFFFFu, a[k / 4 * 2 + 1], row + k % 4));
        const float first = sim_tf32(__shfl_sync(0xFFFFFFFFu, b[k / 4], column + k % 4));
        const float second = sim_tf32(__shfl_sync(0xFFFFFFFFu, b[k / 4], column + 4 + k % 4));
        sum[0] += (double)left * first, sum[1] += (double)left * second;
        sum[2] += (double)below * first, sum[3] += (double)below * second;
    }
    for (int i = 0; i < 4; i++)
        c[i] = sim_truncate(sum[i]);
}

/* One of the two bf16 numbers of a word. */
SIM_INLINE float sim_bf16(unsigned word, int which)
{
    return __uint_as_float(which == 0 ? word << 16 : word & 0xFFFF0000u);
}

SIM_INLINE void mma_bf16(float c[4], const unsigned a[4], const unsigned b[2])
{
    const int lane = threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
    double sum[4] = {c[0], c[1], c[2], c[3]};
    for (int k = 0; k < 16; k += 2) {
        const unsigned left = __shfl_sync(0xFFFFFFFFu, a[k / 8 * 2], row + k % 8 / 2);
        const unsigned below = __shfl_sync(0xFFFFFFFFu, a[k / 8 * 2 + 1], row + k % 8 / 2);
        const unsigned first = __shfl_sync(0xFFFFFFFFu, b[k / 8], column + k % 8 / 2);
        const unsigned second = __shfl_sync(0xFFFFFFFFu, b[k / 8], column + 4 + k % 8 / 2);
        for (int i = 0; i < 2; i++) {
            sum[0] += (double)sim_bf16(left, i) * sim_bf16(first, i);
            sum[1] += (double)sim_bf16(left, i) * sim_bf16(second, i);
            sum[2] += (double)sim_bf16(below, i) * sim_bf16(first, i);
            sum[3] += (double)sim_bf16(below, i) * sim_bf16(second, i);
        }
    }
    for (int i = 0; i < 4; i++)
        c[i] = sim_truncate(sum[i]);
}

/* Each lane reads its elements where others say that the rows are. */
SIM_INLINE void load_matrices(unsigned words[4], const void *row)
{
    const int lane = threadIdx.x % 32;
    for (int m = 0; m < 4; m++)
        words[m] = ((const unsigned *)__shfl_sync(0xFFFFFFFFu, row, m * 8 + lane / 4))[lane % 4];
}

SIM_INLINE void load_matrices_transposed(unsigned words[4], const void *row)
{
    const int lane = threadIdx.x % 32;
    for (int m = 0; m < 4; m++) {
        const void *const first = __shfl_sync(0xFFFFFFFFu, row, m * 8 + lane % 4 * 2);
        const void *const second = __shfl_sync(0xFFFFFFFFu, row, m * 8 + lane % 4 * 2 + 1);
        words[m] = ((const unsigned short *)first)[lane / 4] | (unsigned)((const unsigned short *)second)[lane / 4] << 16;
    }
}

#endif
