/* SPDX-License-Identifier: MIT */
/* 12.4  Everybody's aggregates */
#include <stddef.h>

struct aggregate {
    float product, sum;
};

/* comes_in[s]: what comes into rank `rank` in sequence s. */
void fold(const struct aggregate *all, size_t rank, size_t count, float *comes_in)
{
    for (size_t s = 0; s < count; s++) {
        float y = 0.0f;
        for (size_t r = 0; r < rank; r++)
            y = r == 0 ? all[s].sum : y * all[r * count + s].product + all[r * count + s].sum;
        comes_in[s] = y;
    }
}
