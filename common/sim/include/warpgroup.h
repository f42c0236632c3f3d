/* warpgroup.h - stands in for common/warpgroup.h and its PTX. A product is done when it is asked for: the sum of its
   sixteen products and c is exact, and then rounded toward zero. */
#ifndef WARPGROUP_H
#define WARPGROUP_H

#include "tensor_core.h"

typedef struct {
    const char *begin;
    unsigned apart_k, apart_n;
} warpgroup_matrix;

SIM_INLINE warpgroup_matrix warpgroup_matrix_of(const void *begin, unsigned apart_k, unsigned apart_n)
{
    const warpgroup_matrix b = {(const char *)begin, apart_k, apart_n};
    return b;
}

SIM_INLINE warpgroup_matrix warpgroup_matrix_at(warpgroup_matrix b, unsigned bytes)
{
    b.begin += bytes;
    return b;
}

SIM_INLINE void warpgroup_begin(void)
{
}

SIM_INLINE void warpgroup_commit(void)
{
}

template <int groups>
SIM_INLINE void warpgroup_wait(void)
{
}

/* One of the two bf16 numbers of a word. */
SIM_INLINE float sim_bf16(unsigned word, int which)
{
    return __uint_as_float(which == 0 ? word << 16 : word & 0xFFFF0000u);
}

/* Each lane reads b, and finds the elements of a at those that have them. */
template <int rows>
SIM_INLINE void warpgroup_multiply(float (*c)[4], const unsigned a[4], warpgroup_matrix b, int add)
{
    const int lane = threadIdx.x % 32, first = lane / 4 * 4;
    double sum[4][4];
    for (int v = 0; v < 16; v++)
        sum[v / 4][v % 4] = add ? c[v / 4][v % 4] : 0.0;
    for (int k = 0; k < 16; k++) {
        const unsigned upper = __shfl_sync(0xFFFFFFFFu, a[k / 8 * 2], first + k % 8 / 2);
        const unsigned lower = __shfl_sync(0xFFFFFFFFu, a[k / 8 * 2 + 1], first + k % 8 / 2);
        for (int v = 0; v < 8; v++) {
            const int n = lane % 4 * 2 + v % 2;
            const char *const block = b.begin + k / 8 * b.apart_k + v / 2 * b.apart_n;
            const unsigned word = ((const unsigned short *)block)[rows ? k % 8 * 8 + n : n * 8 + k % 8];
            sum[v / 2][v % 2] += (double)sim_bf16(upper, k % 2) * sim_bf16(word, 0);
            sum[v / 2][v % 2 + 2] += (double)sim_bf16(lower, k % 2) * sim_bf16(word, 0);
        }
    }
    for (int v = 0; v < 16; v++)
        c[v / 4][v % 4] = sim_truncate(sum[v / 4][v % 4]);
}

#endif
