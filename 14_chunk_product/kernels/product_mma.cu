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
/* The simulator builds it quickly: fragments in registers, in unrolled loops, each for two types. */
#include <cuda_runtime.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "fragments.cuh"
#include "product_begin.h"
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

/* Asks for both tiles of the stage whose steps begin at `step`, for the tile of c at (row, column). */
static __device__ __forceinline__ void copy_stage(char *stage, const char *a, const char *b, size_t m, size_t n,
                                                  size_t k, size_t row, size_t column, size_t step)
{
    const size_t steps = left_of(k, step);
    copy_tile<A_ROW, A_BYTES, MMA_THREADS>(stage, a + (row * k + step) * 2, k, left_of(m, row), steps);
    copy_tile<B_ROW, STAGE_BYTES - A_BYTES, MMA_THREADS>(stage + A_BYTES, b + (step * n + column) * 2, n, steps,
                                                         left_of(n, column));
}

template <int dtype>
static __global__ void __launch_bounds__(MMA_THREADS, 2)
    mma_product(size_t m, size_t n, size_t k, const char *__restrict__ a, const char *__restrict__ b,
                char *__restrict__ c)
{
    extern __shared__ __align__(128) char stages[]; /* of each a's tile, then b's */
    const size_t tiles_in_row = (n + MMA_TILE - 1) / MMA_TILE, num_stages = (k + MMA_DEPTH - 1) / MMA_DEPTH;
    const size_t row = blockIdx.x / tiles_in_row * MMA_TILE, column = blockIdx.x % tiles_in_row * MMA_TILE;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned warp_row = warp / 2 * 64, warp_column = warp % 2 * 64;
    float sum[4][8][4] = {};

    /* [stages] The first two are asked for. */
    for (size_t stage = 0; stage < MMA_STAGES - 1; stage++) {
        if (stage < num_stages)
            copy_stage(stages + stage * STAGE_BYTES, a, b, m, n, k, row, column, stage * MMA_DEPTH);
        __pipeline_commit();
    }
    for (size_t stage = 0; stage < num_stages; stage++) {
        __pipeline_wait_prior(MMA_STAGES - 2); /* this thread's part of the stage has come */
        __syncthreads();                       /* everybody's has, and nobody reads the one before it any more */
        const size_t ahead = stage + MMA_STAGES - 1;
        if (ahead < num_stages)
            copy_stage(stages + ahead % MMA_STAGES * STAGE_BYTES, a, b, m, n, k, row, column, ahead * MMA_DEPTH);
        __pipeline_commit();

        /* [multiply] 16 columns of a, 16 rows of b. */
        const char *const a_tile = stages + stage % MMA_STAGES * STAGE_BYTES, *const b_tile = a_tile + A_BYTES;
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
    cudaError_t error = product_begin(args, stream, &done);
    if (done || error != cudaSuccess)
        return error;
    const size_t tiles = product_num_tiles(args, MMA_TILE, MMA_TILE);
    if (tiles == 0 || args->dtype == FLOAT32 || args->n % 8 != 0 || args->k % 8 != 0)
        return cudaErrorInvalidValue;
    const auto kernel = args->dtype == BF16 ? mma_product<BF16> : mma_product<FP16>;
    error = gpu_allow_shared((const void *)kernel, MMA_STAGES * STAGE_BYTES, 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)tiles, MMA_THREADS, MMA_STAGES * STAGE_BYTES, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->m, args->n, args->k, (const char *)args->a, (const char *)args->b,
                              (char *)args->c);
}
