/* SPDX-License-Identifier: MIT */
/* product_mma.cu - product_registers.cu, but the tensor cores multiply. A warp has 64 x 64 elements of c in its
   registers, as 4 x 8 matrices of 16 x 8. From the tiles in shared memory ldmatrix fetches 16 columns of a and 16 rows
   of b at a time (ldmatrix.h), and mma.sync adds their products (mma_sync.h):

                                     b: 64 x 128            a tile's row, in pieces of 16 bytes: eight rows have the
                                     +-----------+          same piece at eight different places, in different banks
                                     | k16: ==== |
                                     |           |              row 0:  0 1 2 3 4 5 6 7
                                     +-----------+              row 1:  1 0 3 2 5 4 7 6
            a: 128 x 64              c: 128 x 128               row 2:  2 3 0 1 6 7 4 5
           +---------------+         +-----+-----+              ...     place i of row r holds piece i ^ r % 8
           |     k16       |         | w 0 | w 1 |
           |      ||       |         +-----+-----+
           |      ||       |         | w 2 | w 3 |
           +---------------+         +-----+-----+

   Tiles come by cp.async, two stages ahead of the one that is multiplied. Rows of 16-byte pieces: k and n are multiples
   of eight. What lies outside of a and b is copied as zeros. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "../../common/cuda/ldmatrix.h"
#include "../../common/cuda/mma_sync.h"
#include "product_kernels.h"

enum {
    MMA_TILE = 128,    /* rows and columns of c */
    MMA_DEPTH = 64,    /* columns of a and rows of b in a stage */
    MMA_STAGES = 3,    /* of 32 KB */
    MMA_THREADS = 128, /* four warps */
    A_ROW = MMA_DEPTH * 2,
    B_ROW = MMA_TILE * 2,
    A_BYTES = MMA_TILE * A_ROW,
    STAGE_BYTES = A_BYTES + MMA_DEPTH * B_ROW
};

/* Where piece `piece` of row `row` of a tile begins. */
static __device__ __forceinline__ unsigned place_of(unsigned row, unsigned piece, unsigned row_bytes)
{
    return row * row_bytes + (piece ^ row % 8) * 16;
}

/* Asks for a tile of rows of `row_bytes`: those from `row` on, of `rows`, the pieces from element `column` on, of
   `columns`. */
template <int row_bytes, int bytes>
static __device__ __forceinline__ void copy_tile(char *tile, const char *from, size_t rows, size_t columns, size_t row,
                                                 size_t column)
{
#pragma unroll
    for (unsigned i = threadIdx.x; i < bytes / 16; i += MMA_THREADS) {
        const unsigned r = i / (row_bytes / 16), piece = i % (row_bytes / 16);
        const bool inside = row + r < rows && column + piece * 8 < columns;
        const size_t at = inside ? (row + r) * columns + column + piece * 8 : 0;
        __pipeline_memcpy_async(tile + place_of(r, piece, row_bytes), from + at * 2, 16, inside ? 0 : 16);
    }
}

template <int dtype>
static __device__ __forceinline__ void multiply_add(float c[4], const unsigned a[4], const unsigned b[2])
{
    if (dtype == BF16)
        mma_bf16(c, a, b);
    else
        mma_fp16(c, a, b);
}

template <int dtype>
static __global__ void __launch_bounds__(MMA_THREADS, 2)
    mma_product(size_t m, size_t n, size_t k, const char *__restrict__ a, const char *__restrict__ b,
                char *__restrict__ c)
{
    extern __shared__ __align__(128) char stages[]; /* of each a's tile, then b's */
    const size_t tiles_in_row = (n + MMA_TILE - 1) / MMA_TILE, steps = (k + MMA_DEPTH - 1) / MMA_DEPTH;
    const size_t row = blockIdx.x / tiles_in_row * MMA_TILE, column = blockIdx.x % tiles_in_row * MMA_TILE;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned warp_row = warp / 2 * 64, warp_column = warp % 2 * 64;
    float sum[4][8][4] = {};

    /* [stages] The first two stages are asked for. */
    for (size_t step = 0; step < MMA_STAGES - 1; step++) {
        if (step < steps) {
            char *const stage = stages + step * STAGE_BYTES;
            copy_tile<A_ROW, A_BYTES>(stage, a, m, k, row, step * MMA_DEPTH);
            copy_tile<B_ROW, STAGE_BYTES - A_BYTES>(stage + A_BYTES, b, k, n, step * MMA_DEPTH, column);
        }
        __pipeline_commit();
    }
    for (size_t step = 0; step < steps; step++) {
        __pipeline_wait_prior(MMA_STAGES - 2); /* this thread's part of the stage has come */
        __syncthreads();                       /* everybody's has, and nobody reads the stage before it any more */
        const size_t ahead = step + MMA_STAGES - 1;
        if (ahead < steps) {
            char *const stage = stages + ahead % MMA_STAGES * STAGE_BYTES;
            copy_tile<A_ROW, A_BYTES>(stage, a, m, k, row, ahead * MMA_DEPTH);
            copy_tile<B_ROW, STAGE_BYTES - A_BYTES>(stage + A_BYTES, b, k, n, ahead * MMA_DEPTH, column);
        }
        __pipeline_commit();

        /* [multiply] 16 columns of a, 16 rows of b. */
        const char *const a_tile = stages + step % MMA_STAGES * STAGE_BYTES, *const b_tile = a_tile + A_BYTES;
#pragma unroll
        for (unsigned k16 = 0; k16 < MMA_DEPTH / 16; k16++) {
            unsigned left[4][4], right[4][4]; /* of 16 x 16 each */
#pragma unroll
            for (unsigned i = 0; i < 4; i++)
                ldmatrix4(left[i], a_tile + place_of(warp_row + i * 16 + lane % 16, k16 * 2 + lane / 16, A_ROW));
#pragma unroll
            for (unsigned j = 0; j < 4; j++)
                ldmatrix4_transposed(
                    right[j], b_tile + place_of(k16 * 16 + lane % 16, warp_column / 8 + j * 2 + lane / 16, B_ROW));
#pragma unroll
            for (unsigned i = 0; i < 4; i++)
#pragma unroll
                for (unsigned j = 0; j < 8; j++)
                    multiply_add<dtype>(sum[i][j], left[i], right[j / 2] + j % 2 * 2);
        }
    }

    /* [store] A lane has two neighbours of row l, and two of row l + 8, of each matrix. */
#pragma unroll
    for (unsigned i = 0; i < 8; i++)
#pragma unroll
        for (unsigned j = 0; j < 8; j++) {
            const size_t at_row = row + warp_row + i * 8 + lane / 4;
            const size_t at_column = column + warp_column + j * 8 + lane % 4 * 2;
            const float *const two = sum[i / 2][j] + i % 2 * 2;
            if (at_row < m && at_column < n)
                *(unsigned *)(c + (at_row * n + at_column) * 2) = pack<dtype>(two[0], two[1]);
        }
}

extern "C" cudaError_t product_mma(const struct product_args *args, cudaStream_t stream)
{
    bool done;
    cudaError_t error = product_begin(args, &done);
    if (done || error != cudaSuccess)
        return error;
    if (args->dtype == FLOAT32 || args->n % 8 != 0 || args->k % 8 != 0)
        return cudaErrorInvalidValue;
    const size_t tiles = ((args->m + MMA_TILE - 1) / MMA_TILE) * ((args->n + MMA_TILE - 1) / MMA_TILE);
    const auto kernel = args->dtype == BF16 ? mma_product<BF16> : mma_product<FP16>;
    error = gpu_allow_shared((const void *)kernel, MMA_STAGES * STAGE_BYTES, 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)tiles, MMA_THREADS, MMA_STAGES * STAGE_BYTES, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->m, args->n, args->k, (const char *)args->a, (const char *)args->b,
                              (char *)args->c);
}
