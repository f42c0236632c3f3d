/* SPDX-License-Identifier: MIT */
/* fragments.cuh - tiles in shared memory, of elements of 16 bits, as ldmatrix likes them, and the products of what it
   fetches. A tile's rows lie one behind the other, in pieces of 16 bytes. Eight rows have the same piece at eight
   different places, in different banks:

       row 0:  0 1 2 3 4 5 6 7        row 1:  1 0 3 2 5 4 7 6        row 2:  2 3 0 1 6 7 4 5        ...

   place i of row r holds piece i ^ r % 8. A row has 128 bytes, or a multiple. */
#ifndef CHUNK_PRODUCT_FRAGMENTS_CUH
#define CHUNK_PRODUCT_FRAGMENTS_CUH

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/ldmatrix.h"
#include "../../common/cuda/mma_sync.h"

/* Where piece `piece` of row `row` of a tile begins. */
static __device__ __forceinline__ unsigned place_of(unsigned row, unsigned piece, unsigned row_bytes)
{
    return row * row_bytes + (piece ^ row % 8) * 16;
}

/* Asks for a tile of rows of `row_bytes`: `from` is its first element in a matrix of rows of `width` elements, of which
   `rows` rows and `columns` elements of each are left. A thread has the same piece of every 8th or 16th row, so its
   addresses are one sum apart. */
template <int row_bytes, int bytes, int threads>
static __device__ __forceinline__ void copy_tile(char *tile, const char *from, size_t width, size_t rows,
                                                 size_t columns)
{
    constexpr unsigned pieces = row_bytes / 16, rows_at_once = threads / pieces;
    const unsigned row = threadIdx.x / pieces, piece = threadIdx.x % pieces;
    char *const to = tile + place_of(row, piece, row_bytes);
    from += (row * width + piece * 8) * 2;
#pragma unroll
    for (unsigned i = 0; i < bytes / 16 / threads; i++) {
        const bool inside = row + i * rows_at_once < rows && piece * 8 < columns;
        __pipeline_memcpy_async(to + i * rows_at_once * row_bytes, from, 16, inside ? 0 : 16);
        from += rows_at_once * width * 2;
    }
}

/* What is left of `all` from `at` on. */
static __device__ __forceinline__ size_t left_of(size_t all, size_t at)
{
    return at < all ? all - at : 0;
}

/* c += a b, of 16 x 16 and 16 x 8 (mma_sync.h). */
template <int dtype>
static __device__ __forceinline__ void multiply_add(float c[4], const unsigned a[4], const unsigned b[2])
{
    if (dtype == BF16)
        mma_bf16(c, a, b);
    else
        mma_fp16(c, a, b);
}

#endif
