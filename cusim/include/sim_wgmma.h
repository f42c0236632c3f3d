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

template <int n>
SIM_INLINE void wgmma_done(float (*)[4])
{
}

/* The lower or the upper half of a word. */
template <bool is_fp16>
SIM_INLINE double sim_16bits(unsigned word, int upper)
{
    return is_fp16 ? sim_fp16(word, upper) : sim_bf16(word, upper);
}

/* Element `column` of row `row` of rows of 128 bytes, of which `first` is the address of one of the first row's. */
SIM_INLINE unsigned sim_swizzled(const char *first, unsigned row, unsigned column)
{
    const unsigned begin = (unsigned)((uintptr_t)first % 1024);
    return *(const unsigned short *)(first - begin + wgmma_place(row, begin % 128 + column * 2) + begin / 128 * 128);
}

/* Each lane finds the elements of a at those that have them, and reads those of b. */
template <int n, bool by_rows, bool is_fp16 = false>
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
            const unsigned element =
                by_rows ? sim_swizzled(b.first + column / 64 * 8192, k, column % 64) : sim_swizzled(b.first, column, k);
            const double right = sim_16bits<is_fp16>(element, 0);
            sum[v / 2][v % 2] += sim_16bits<is_fp16>(above, k % 2) * right;
            sum[v / 2][v % 2 + 2] += sim_16bits<is_fp16>(under, k % 2) * right;
        }
    }
    for (int v = 0; v < n / 2; v++)
        c[v / 4][v % 4] = sim_truncate(sum[v / 4][v % 4]);
}

template <int n, bool is_fp16>
SIM_INLINE void wgmma_multiply_shared(float (*c)[4], wgmma_matrix a, wgmma_matrix b, bool add)
{
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4;
    double left[2][16];
    for (int k = 0; k < 32; k++)
        left[k % 2][k / 2] = sim_16bits<is_fp16>(sim_swizzled(a.first, row + k % 2 * 8, k / 2), 0);
    for (int v = 0; v < n / 4; v++) { /* a column, two rows of it */
        const int column = v / 2 * 8 + lane % 4 * 2 + v % 2;
        double sum[2] = {add ? c[v / 2][v % 2] : 0.0, add ? c[v / 2][v % 2 + 2] : 0.0};
        for (int k = 0; k < 16; k++) {
            const unsigned element =
                n == 64 ? sim_swizzled(b.first, column, k) : sim_swizzled(b.first + column / 64 * 8192, k, column % 64);
            const double right = sim_16bits<is_fp16>(element, 0);
            sum[0] += left[0][k] * right, sum[1] += left[1][k] * right;
        }
        c[v / 2][v % 2] = sim_truncate(sum[0]), c[v / 2][v % 2 + 2] = sim_truncate(sum[1]);
    }
}

#endif
