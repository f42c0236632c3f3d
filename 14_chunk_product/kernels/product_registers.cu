/* SPDX-License-Identifier: MIT */
/* product_registers.cu - against product_tiles.cu: a thread has 8 x 8 elements of C in registers, so a block of 256
   threads has a tile of 128 x 128. A step takes 8 elements of A's tile and 8 of B's from shared memory, and multiplies
   each with each: 64 products for 16 numbers, where product_tiles has one for two.

       a warp's 32 x 64 of C, lanes 4 down and 8 across         a lane's 8 x 8: four pieces of 4 x 4,
                                                                16 rows and 32 columns apart
         lane  0 |  1 |  2 | ... |  7 |  0 |  1 | ...
               8 |  9 | 10 | ... | 15 |  8 |  9 | ...           a[4 r ... 4 r + 3]       r, s: the lane's row and
              16 | 17 | ...                                     a[4 r + 16 ... ]         column among the lanes
              24 | 25 | ...                                     b[4 s ... 4 s + 3]
               0 |  1 | ...  the same lanes again               b[4 s + 32 ... ]         each one read of 16 bytes

   The tiles have 16 steps. There are two of each in shared memory: while one is used, the next is on its way into
   registers, and is put into the other when the steps are done: one barrier for each pair of tiles. A's tile lies there
   transposed, a step's 128 elements side by side, and four floats apart from the next step's: so the 32 elements that a
   warp stores at once, of 16 rows and 2 groups of 4 steps, lie in 32 banks. */
#include <cuda_runtime.h>

#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/launch_of.h"
#include "product_begin.h"
#include "product_kernels.h"

enum { TILE = 128, STEPS = 16, THREADS = 256, PAD = 4 };

/* Four neighbours of a row, from column `first` on, of which there are `width`: those past the end are 0. `wide`: all
   rows begin at multiples of four elements, so four neighbours are there together, or none is. */
template <int dtype>
static __device__ __forceinline__ void load_four(const void *array, size_t row_at, size_t first, size_t width,
                                                 bool is_row, bool wide, float x[4])
{
#pragma unroll
    for (int e = 0; e < 4; e++)
        x[e] = 0.0f;
    if (wide && is_row && first < width) {
        read4<dtype>(array, row_at + first, x);
    } else if (!wide && is_row) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (first + e < width)
                x[e] = read1<dtype>(array, row_at + first + e);
    }
}

/* Two blocks a multiprocessor: up to 128 registers. */
template <int dtype>
static __global__ void __launch_bounds__(THREADS, 2)
    product_registers_kernel(size_t m, size_t n, size_t k, const void *__restrict__ a, const void *__restrict__ b,
                             void *__restrict__ c)
{
    __shared__ float4 a_tiles[2][STEPS][(TILE + PAD) / 4], b_tiles[2][STEPS][TILE / 4];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t tiles_across = (n + TILE - 1) / TILE;
    const size_t row0 = blockIdx.x / tiles_across * TILE, column0 = blockIdx.x % tiles_across * TILE;
    const bool a_wide = k % 4 == 0, b_wide = n % 4 == 0;

    /* What this thread loads: of A two groups of four steps of one row, of B four columns of two steps. */
    const int a_row = warp * 16 + lane / 2, a_step = lane % 2 * 4;
    const size_t a_at = (row0 + a_row) * k, b_column = column0 + lane * 4;
    const bool is_a_row = row0 + a_row < m;
    float a_next[2][4], b_next[2][4];

    /* What it computes. */
    const int r = warp / 2 * 8 + lane / 8, s = warp % 2 * 16 + lane % 8; /* in groups of four */
    float sum[8][8] = {};

    const size_t num_tiles = (k + STEPS - 1) / STEPS;
    for (size_t tile = 0; tile <= num_tiles; tile++) {
        /* [load] The next tile is asked for. */
        const size_t first = tile * STEPS;
        if (tile < num_tiles) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const size_t b_row = first + h * 8 + warp;
                load_four<dtype>(a, a_at, first + h * 8 + a_step, k, is_a_row, a_wide, a_next[h]);
                load_four<dtype>(b, b_row * n, b_column, n, b_row < k, b_wide, b_next[h]);
            }
        }
        /* [use] The one before is in shared memory. */
        if (tile > 0) {
            const float4(*const a_tile)[(TILE + PAD) / 4] = a_tiles[(tile - 1) % 2];
            const float4(*const b_tile)[TILE / 4] = b_tiles[(tile - 1) % 2];
#pragma unroll
            for (int l = 0; l < STEPS; l++) {
                const float4 a4[2] = {a_tile[l][r], a_tile[l][r + 4]}, b4[2] = {b_tile[l][s], b_tile[l][s + 8]};
                const float ai[8] = {a4[0].x, a4[0].y, a4[0].z, a4[0].w, a4[1].x, a4[1].y, a4[1].z, a4[1].w};
                const float bj[8] = {b4[0].x, b4[0].y, b4[0].z, b4[0].w, b4[1].x, b4[1].y, b4[1].z, b4[1].w};
#pragma unroll
                for (int i = 0; i < 8; i++)
#pragma unroll
                    for (int there = 0; there < 8; there++) { /* and back: what was used last is used next, too */
                        const int j = i % 2 == 0 ? there : 7 - there;
                        sum[i][j] += ai[i] * bj[j];
                    }
            }
        }
        /* [put] What has come goes where nobody reads now: the tile there was used up before the last barrier. */
        if (tile < num_tiles) {
            float *const a_to = (float *)a_tiles[tile % 2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
#pragma unroll
                for (int e = 0; e < 4; e++)
                    a_to[(h * 8 + a_step + e) * (TILE + PAD) + a_row] = a_next[h][e];
                b_tiles[tile % 2][h * 8 + warp][lane] =
                    make_float4(b_next[h][0], b_next[h][1], b_next[h][2], b_next[h][3]);
            }
        }
        /* [turn] One barrier a round: the tile that was put is there, the other one is used up. */
        __syncthreads();
    }

    /* [store] What lies outside of C is left out. */
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const size_t row = row0 + r * 4 + i % 4 + i / 4 * 16;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const size_t column = column0 + s * 4 + h * 32;
            if (row < m && b_wide && column < n) {
                write4<dtype>(c, row * n + column, &sum[i][h * 4]);
            } else if (row < m && !b_wide) {
#pragma unroll
                for (int e = 0; e < 4; e++)
                    if (column + e < n)
                        write1<dtype>(c, row * n + column + e, sum[i][h * 4 + e]);
            }
        }
    }
}

typedef void registers_kernel(size_t, size_t, size_t, const void *, const void *, void *);

extern "C" cudaError_t product_registers(const struct product_args *args, cudaStream_t stream)
{
    bool done;
    const cudaError_t error = product_begin(args, stream, &done);
    if (error != cudaSuccess || done)
        return error;
    const size_t blocks = product_num_tiles(args, TILE, TILE);
    if (blocks == 0)
        return cudaErrorInvalidValue;
    registers_kernel *const kernel = by_dtype(args->dtype, product_registers_kernel<FLOAT32>,
                                              product_registers_kernel<BF16>, product_registers_kernel<FP16>);
    const cudaLaunchConfig_t launch = launch_of((unsigned)blocks, THREADS, 0, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->m, args->n, args->k, args->a, args->b, args->c);
}
