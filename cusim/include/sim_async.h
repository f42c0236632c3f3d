/* SPDX-License-Identifier: MIT */
/* sim_async.h - the common part of memcpy_async of cooperative_groups, cuda/barrier and cuda/pipeline: copies from
   global to shared memory in pieces of 16, 8 or 4 bytes, as their addresses and size allow. What else is asked for is copied
   at once, by loads and stores, as on a GPU. */
#ifndef SIM_ASYNC_H
#define SIM_ASYNC_H

#include "cuda_pipeline.h"

namespace cuda
{
/* A size with a promise: the addresses are multiples of `alignment`, too. */
template <size_t alignment>
struct aligned_size_t {
    static constexpr size_t align = alignment;
    size_t value;
    explicit aligned_size_t(size_t value) : value(value)
    {
    }
    operator size_t() const
    {
        return value;
    }
};
} // namespace cuda

/* The share of thread `rank` of `count`. piece(to, from, bytes) begins a copy. */
template <class Piece>
SIM_INLINE void sim_copy_pieces(void *to, const void *from, size_t size, size_t rank, size_t count, Piece piece)
{
    const uintptr_t all = (uintptr_t)to | (uintptr_t)from | size;
    const size_t bytes = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;

    if (bytes > 1 && __isShared(to) && __isGlobal(from)) {
        for (size_t at = rank * bytes; at < size; at += count * bytes)
            piece((char *)to + at, (const char *)from + at, bytes);
    } else if (bytes > 1) {
        for (size_t at = rank * 4; at < size; at += count * 4)
            *(unsigned *)((char *)to + at) = *(const unsigned *)((const char *)from + at);
    } else {
        for (size_t at = rank; at < size; at += count)
            ((char *)to)[at] = ((const char *)from)[at];
    }
}

#endif
