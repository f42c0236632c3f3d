/* SPDX-License-Identifier: MIT */
/* 01.3  One coefficient for all

   In a moving average, and in S4, all elements share one coefficient, a single number c:

       y[0] = x[0],   y[l] = y[l-1] * c + x[l]

   Given are c, the outputs y, and d_y, the gradient of some E with respect to y. Compute the gradients with respect to
   x, and to c, which is one number now: c acts on E along L - 1 paths, one for each l from 1 on.

       y          y0 ---c---> y1 ---c---> y2 ---c---> y3
       d_x        d0 <--c---- d1 <--c---- d2 <--c---- d3       c took y0 into y1, so it takes d1 back to d0

   Goal: right for every seq_len (0 writes a d_c of 0), and each element of d_y and y is loaded only once.

   Write where it says "here": about ten lines. */
#include <stddef.h>

/* y, d_y, d_x: seq_len numbers each; d_c: one. Element seq_len - 1 of y is not needed. */
void shared_backward(size_t seq_len, float c, const float *y, const float *d_y, float *d_x, float *d_c)
{
    float sum = 0; /* here */

    *d_c = sum;
}
