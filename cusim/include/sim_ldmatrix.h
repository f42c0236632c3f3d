/* SPDX-License-Identifier: MIT */
/* sim_ldmatrix.h - stands in for functions over PTX: four loads of a warp, one for each matrix, in which each lane
   reads four of its 128 bytes; transposed, the lanes then exchange halves of what they have read, or first of what they
   write. */
#ifndef SIM_LDMATRIX_H
#define SIM_LDMATRIX_H

#include "cuda_runtime.h"
#include "sim_mma_sync.h"

SIM_INLINE void sim_load_matrices(unsigned m[4], const void *row, const char *file, int line)
{
    const int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        const unsigned *const from =
            (const unsigned *)__shfl_sync(0xFFFFFFFFu, (unsigned long long)row, i * 8 + lane / 4, 32, file, line);
        m[i] = from[lane % 4];
    }
}

SIM_INLINE void ldmatrix4(unsigned m[4], const void *row, SIM_AT)
{
    sim_load_matrices(m, row, file, line);
    sim_fragments("ldmatrix4", m, NULL, NULL);
}

SIM_INLINE void ldmatrix4_transposed(unsigned m[4], const void *row, SIM_AT)
{
    const int lane = threadIdx.x % 32, word = lane / 8, high = lane / 4 % 2 * 16; /* element lane / 4 of a row */
    sim_load_matrices(m, row, file, line);
    for (int i = 0; i < 4; i++) {
        const unsigned first = __shfl_sync(0xFFFFFFFFu, m[i], lane % 4 * 8 + word, 32, file, line);
        const unsigned second = __shfl_sync(0xFFFFFFFFu, m[i], lane % 4 * 8 + 4 + word, 32, file, line);
        m[i] = (first >> high & 0xFFFF) | (second >> high & 0xFFFF) << 16;
    }
    sim_fragments("ldmatrix4_transposed", m, NULL, NULL);
}

SIM_INLINE void stmatrix4_transposed(void *row, const unsigned m[4], SIM_AT)
{
    const int lane = threadIdx.x % 32,
              half = lane / 4 % 2 * 16; /* of element lane / 4 of two columns, which others have */
    for (int i = 0; i < 4; i++) {
        unsigned *const to =
            (unsigned *)__shfl_sync(0xFFFFFFFFu, (unsigned long long)row, i * 8 + lane / 4, 32, file, line);
        const unsigned first = __shfl_sync(0xFFFFFFFFu, m[i], lane % 4 * 8 + lane / 8, 32, file, line);
        const unsigned second = __shfl_sync(0xFFFFFFFFu, m[i], lane % 4 * 8 + 4 + lane / 8, 32, file, line);
        to[lane % 4] = (first >> half & 0xFFFF) | (second >> half & 0xFFFF) << 16;
    }
    sim_fragments("stmatrix4_transposed", m, NULL, NULL);
}

#endif
