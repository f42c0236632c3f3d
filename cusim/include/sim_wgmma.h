/* SPDX-License-Identifier: MIT */
/* sim_wgmma.h - stands in for functions over PTX. A product is done when it is asked for: the sum of its
   sixteen products and c is exact, and then rounded toward zero. */
#ifndef SIM_WGMMA_H
#define SIM_WGMMA_H

#include "sim_mma_sync.h"

SIM_INLINE unsigned wgmma_place(unsigned row, unsigned at)
{
    return row * 128 + (at ^ row % 8 * 16);
}

typedef struct {
    const char *first;
} wgmma_matrix;

SIM_INLINE wgmma_matrix wgmma_matrix_of(const void *first)
{
    const wgmma_matrix b = {(const char *)first};
    return b;
}

SIM_INLINE wgmma_matrix wgmma_matrix_at(wgmma_matrix b, unsigned bytes)
{
    b.first += bytes;
    return b;
}

SIM_INLINE void wgmma_begin(void)
{
}

SIM_INLINE void wgmma_commit(void)
{
}

template <int groups>
SIM_INLINE void wgmma_wait(void)
{
}

/* Each lane finds the elements of a at those that have them, and reads those of b. */
template <int n, bool by_rows>
SIM_INLINE void wgmma_multiply(float (*c)[4], const unsigned a[4], wgmma_matrix b, bool add)
{
    const int lane = threadIdx.x % 32, first = lane / 4 * 4;
    double sum[n / 8][4];
    for (int v = 0; v < n / 2; v++)
        sum[v / 4][v % 4] = add ? c[v / 4][v % 4] : 0.0;
    for (int k = 0; k < 16; k++) {
        const unsigned above = __shfl_sync(0xFFFFFFFFu, a[k / 8 * 2], first + k % 8 / 2);
        const unsigned under = __shfl_sync(0xFFFFFFFFu, a[k / 8 * 2 + 1], first + k % 8 / 2);
        for (int v = 0; v < n / 4; v++) {
            const int column = v / 2 * 8 + lane % 4 * 2 + v % 2;
            const unsigned row = by_rows ? k : column, at = (by_rows ? column : k) * 2;
            const unsigned begin = (unsigned)((uintptr_t)b.first % 1024); /* of the first element in its row */
            const char *const rows = b.first - begin;
            const double right = sim_bf16(*(const unsigned short *)(rows + wgmma_place(row, begin + at)), 0);
            sum[v / 2][v % 2] += sim_bf16(above, k % 2) * right;
            sum[v / 2][v % 2 + 2] += sim_bf16(under, k % 2) * right;
        }
    }
    for (int v = 0; v < n / 2; v++)
        c[v / 4][v % 4] = sim_truncate(sum[v / 4][v % 4]);
}

#endif
