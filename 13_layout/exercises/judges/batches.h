/* SPDX-License-Identifier: MIT */
/* batches.h - shared by the judges of 13.2, 13.3 and 13.6: arrays (batch, seq_len, channels) have batch * seq_len rows.
   The judge draws rows; the batch is the largest power of two that divides them, up to 16. */
#ifndef BATCHES_H
#define BATCHES_H

#include <stddef.h>

static inline size_t batch_of(const size_t *size)
{
    size_t batch = 1;
    while (batch < 16 && size[0] % (2 * batch) == 0)
        batch *= 2;
    return batch;
}

static inline size_t seq_len_of(const size_t *size)
{
    return size[0] / batch_of(size);
}

#endif
