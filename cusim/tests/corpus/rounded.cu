// right
// SPDX-License-Identifier: MIT
// directed rounding: the neighbours of what is not a float, and the number itself where it is one
#include "corpus.h"

__global__ void kernel(float *x)
{
    const float a = (float)threadIdx.x + 3, third = __fdiv_rn(a, 3), root = __fsqrt_rn(a);
    const float down = __fdiv_rd(a, 3), up = __fdiv_ru(a, 3);
    const double d = a, quotient = __ddiv_rn(d, 3), sum = __dadd_rn(d, 0x1p-60);
    bool good = down <= third && third <= up && (double)down * 3 <= d && d <= (double)up * 3;

    good = good && (threadIdx.x % 3 == 0 ? down == up : __float_as_int(up) == __float_as_int(down) + 1);
    good = good && __fsqrt_rd(a) <= root && root <= __fsqrt_ru(a) && __fsqrt_rz(a) == __fsqrt_rd(a);
    good = good && __fdiv_rz(-a, 3) == -down && __frcp_ru(a) >= __frcp_rd(a);
    good = good && __ddiv_rd(d, 3) <= quotient && quotient <= __ddiv_ru(d, 3);
    good = good && __dadd_rd(d, 0x1p-60) == sum && __dadd_ru(d, 0x1p-60) > sum && __dsub_rz(d, 0x1p-60) < d;
    good = good && __dmul_ru(d, 0.1) >= __dmul_rd(d, 0.1) && __dsqrt_ru(2) > __dsqrt_rd(2) && __drcp_rz(4) == 0.25;
    x[threadIdx.x] = good ? 2 * x[threadIdx.x] + 1 : -1;
}

int main(void)
{
    float *x = numbers();
    kernel<<<1, N>>>(x);
    return finish(x, 2, 1);
}
