/* SPDX-License-Identifier: MIT */
/* 12.1  The operator */
#include <stddef.h>

struct aggregate {
    float product, sum;
};

void join(const struct aggregate *earlier, struct aggregate *later, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        later[s].sum = earlier[s].sum * later[s].product + later[s].sum;
        later[s].product = earlier[s].product * later[s].product;
    }
}
