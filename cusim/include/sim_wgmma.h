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

/* Elements `column`, an even number, and the next one of row `row` of rows of 128 bytes, of which `first` is the
   address of one of the first row's. */
SIM_INLINE unsigned sim_swizzled(const char *first, unsigned row, unsigned column)
{
    const unsigned begin = (unsigned)((uintptr_t)first % 1024);
    return *(const unsigned *)(first - begin + wgmma_place(row, begin % 128 + column * 2) + begin / 128 * 128);
}

/* c + a b of two rows and two columns: of sixteen steps the words of a's rows, and of b those in which two steps lie,
   one word for each column, or by rows two columns, one for each step. Not inlined and not watched, as in
   sim_mma_sync.h. */
template <bool by_rows, bool is_fp16>
__attribute__((noinline, no_sanitize("thread", "address"))) sim_sums
sim_multiply_words(sim_sums c, const unsigned left[2][8], const unsigned right[8][2])
{
    double sum[4] = {c.of[0], c.of[1], c.of[2], c.of[3]};
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < 4; i++) {
            const int row = i / 2, column = i % 2, step = k % 2;
            sum[i] += sim_16bits<is_fp16>(left[row][k / 2], step) *
                      sim_16bits<is_fp16>(right[k / 2][by_rows ? step : column], by_rows ? column : step);
        }
    return {{sim_truncate(sum[0]), sim_truncate(sum[1]), sim_truncate(sum[2]), sim_truncate(sum[3])}};
}

/* Each lane has its words of a, and reads those of b. */
template <int n, bool by_rows, bool is_fp16>
SIM_INLINE void sim_multiply_rows(float (*c)[4], const unsigned left[2][8], wgmma_matrix b, bool add)
{
    for (int v = 0; v < n / 8; v++) {
        const int column = v * 8 + threadIdx.x % 4 * 2;
        unsigned right[8][2];
        for (int k = 0; k < 16; k++)
            right[k / 2][k % 2] = by_rows ? sim_swizzled(b.first + column / 64 * 8192, k, column % 64)
                                          : sim_swizzled(b.first, column + k % 2, k / 2 * 2);
        sim_sums sums = {};
        for (int i = 0; i < 4 && add; i++)
            sums.of[i] = c[v][i];
        sums = sim_multiply_words<by_rows, is_fp16>(sums, left, right);
        for (int i = 0; i < 4; i++)
            c[v][i] = sums.of[i];
    }
}

/* Each lane finds the words of a at those that have them. */
template <int n, bool by_rows, bool is_fp16 = false>
SIM_INLINE void wgmma_multiply(float (*c)[4], const unsigned a[4], wgmma_matrix b, bool add)
{
    const int first = threadIdx.x % 32 / 4 * 4;
    unsigned left[2][8];
    for (int k = 0; k < 16; k++)
        left[k % 2][k / 2] = __shfl_sync(0xFFFFFFFFu, a[k / 8 * 2 + k % 2], first + k / 2 % 4);
    sim_multiply_rows<n, by_rows, is_fp16>(c, left, b, add);
}

template <int n, bool is_fp16>
SIM_INLINE void wgmma_multiply_shared(float (*c)[4], wgmma_matrix a, wgmma_matrix b, bool add)
{
    const int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    unsigned left[2][8];
    for (int k = 0; k < 16; k++)
        left[k % 2][k / 2] = sim_swizzled(a.first, row + k % 2 * 8, k / 2 * 2);
    sim_multiply_rows<n, n != 64, is_fp16>(c, left, b, add);
}

#endif
