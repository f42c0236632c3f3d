/* SPDX-License-Identifier: MIT */
/* one_head.h - shared by the judges of exercises 10.1 and 10.2: sizes (chunks, columns) of one head, with one decay a
   chunk. */
#ifndef ONE_HEAD_H
#define ONE_HEAD_H

#include <stddef.h>

static inline size_t chunks(const size_t *size)
{
    return size[0];
}

static inline size_t columns(const size_t *size)
{
    return size[1];
}

/* a product and a sum in each chunk */
static inline size_t roundings(const size_t *size)
{
    return 2 * size[0] + 2;
}

#endif
