/* SPDX-License-Identifier: MIT */
/* sim_mma_sync.h - stands in for functions over PTX: the sum of a step's eight products and c is exact, and
   then rounded toward zero. */
#ifndef SIM_MMA_SYNC_H
#define SIM_MMA_SYNC_H

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

#endif
