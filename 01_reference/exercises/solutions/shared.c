/* SPDX-License-Identifier: MIT */
/* 01.3  One coefficient for all */
#include <stddef.h>

void shared_backward(size_t seq_len, float c, const float *y, const float *d_y, float *d_x, float *d_c)
{
    float sum = 0, d = 0;

    for (size_t l = seq_len; l-- > 0;) {
        d = l == seq_len - 1 ? d_y[l] : d * c + d_y[l];
        d_x[l] = d;
        if (l > 0)
            sum += y[l - 1] * d;
    }
    *d_c = sum;
}
