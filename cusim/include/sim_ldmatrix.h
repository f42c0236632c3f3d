/* SPDX-License-Identifier: MIT */
/* sim_ldmatrix.h - stands in for functions over PTX: four loads of a warp, one for each matrix, in which each lane reads
   four of its 128 bytes; transposed, the lanes then exchange halves of what they have read. */
#ifndef SIM_LDMATRIX_H
#define SIM_LDMATRIX_H

#include "cuda_runtime.h"

SIM_INLINE void ldmatrix4(unsigned m[4], const void *row)
{
    const int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        const unsigned *const from =
            (const unsigned *)__shfl_sync(0xFFFFFFFFu, (unsigned long long)row, i * 8 + lane / 4);
        m[i] = from[lane % 4];
    }
}

SIM_INLINE void ldmatrix4_transposed(unsigned m[4], const void *row)
{
    const int lane = threadIdx.x % 32, word = lane / 8, high = lane / 4 % 2 * 16; /* element lane / 4 of a row */
    ldmatrix4(m, row);
    for (int i = 0; i < 4; i++) {
        const unsigned first = __shfl_sync(0xFFFFFFFFu, m[i], lane % 4 * 8 + word);
        const unsigned second = __shfl_sync(0xFFFFFFFFu, m[i], lane % 4 * 8 + 4 + word);
        m[i] = (first >> high & 0xFFFF) | (second >> high & 0xFFFF) << 16;
    }
}

#endif
