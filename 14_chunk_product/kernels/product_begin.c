/* SPDX-License-Identifier: MIT */
/* product_begin.c - see product_begin.h */
#include "product_begin.h"

#include <stdint.h>

/* The most bytes of an array: offsets are signed in some kernels. */
static bool is_too_large(size_t rows, size_t columns, enum dtype dtype)
{
    return columns != 0 && rows > (size_t)PTRDIFF_MAX / dtype_bytes(dtype) / columns;
}

static bool is_aligned(const void *at)
{
    return at != NULL && (uintptr_t)at % 16 == 0;
}

cudaError_t product_begin(const struct product_args *args, cudaStream_t stream, bool *done)
{
    *done = false;
    if (args == NULL || (unsigned)args->dtype >= NUM_DTYPES)
        return cudaErrorInvalidValue;
    *done = args->m == 0 || args->n == 0 || args->k == 0;
    if (args->m == 0 || args->n == 0)
        return cudaSuccess;
    if (is_too_large(args->m, args->k, args->dtype) || is_too_large(args->k, args->n, args->dtype) ||
        is_too_large(args->m, args->n, args->dtype) || !is_aligned(args->c))
        return cudaErrorInvalidValue;
    if (args->k == 0)
        return cudaMemsetAsync(args->c, 0, args->m * args->n * dtype_bytes(args->dtype), stream);
    return is_aligned(args->a) && is_aligned(args->b) ? cudaSuccess : cudaErrorInvalidValue;
}

size_t product_num_tiles(const struct product_args *args, size_t rows, size_t columns)
{
    const size_t down = (args->m + rows - 1) / rows, across = (args->n + columns - 1) / columns;
    return down > 0x7FFFFFFF / across ? 0 : down * across;
}
