/* SPDX-License-Identifier: MIT */
/* product_wgmma.cu - product_mma.cu on sm_90, where the tensor cores read both tiles out of shared memory by themselves
   (wgmma.h) and the TMA brings them as swizzled boxes (tensor_map.h). No register holds a part of a or b, so a
   warpgroup, four warps, has 64 x 256 elements of c in registers:

                                     b: 64 x 256, in boxes of 64 columns
                                     +-----+-----+-----+-----+
                                     |     |     |     |     |
                                     +-----+-----+-----+-----+
            a: 128 x 64              c: 128 x 256
           +---------------+         +-----------------------+
           |               |         |  warpgroup 0          |       the ninth warp only asks for tiles,
           |               |         +-----------------------+       up to four stages ahead
           |               |         |  warpgroup 1          |
           +---------------+         +-----------------------+

       full[stage]     the stage's boxes have come            the ninth warp  --->  the warpgroups
       empty[stage]    all eight warps have multiplied it     the ninth warp  <---  the warpgroups                  */
#include <limits.h>

#include <cuda_runtime.h>

#include "../../10_chunk_state/kernels/load_store.cuh"
#include "../../common/cuda/gpu_info.h"
#include "../../common/cuda/launch_of.h"
#include "../../common/cuda/tensor_map.h"
#include "../../common/cuda/tma.h"
#include "../../common/cuda/wgmma.h"
#include "product_begin.h"
#include "product_kernels.h"

enum {
    WG_ROWS = 128,
    WG_COLUMNS = 256,
    WG_DEPTH = 64, /* of a stage */
    WG_STAGES = 4,
    WG_GROUPS = 2,
    WG_THREADS = WG_GROUPS * 128 + 32,
    BOX_BYTES = 64 * WG_DEPTH * 2, /* of 64 rows of a, or 64 columns of b */
    STAGE_BYTES = (WG_ROWS + WG_COLUMNS) / 64 * BOX_BYTES
};

template <int dtype>
static __global__ void __launch_bounds__(WG_THREADS, 1)
    wgmma_product(size_t m, size_t n, size_t k, const __grid_constant__ CUtensorMap a,
                  const __grid_constant__ CUtensorMap b, char *__restrict__ c)
{
    extern __shared__ __align__(1024) char stages[]; /* of each a's two boxes, then b's four */
    __shared__ uint64_t full[WG_STAGES], empty[WG_STAGES];
    const size_t tiles_in_row = (n + WG_COLUMNS - 1) / WG_COLUMNS;
    const size_t row = blockIdx.x / tiles_in_row * WG_ROWS, column = blockIdx.x % tiles_in_row * WG_COLUMNS;
    const int steps = (int)((k + WG_DEPTH - 1) / WG_DEPTH), group = threadIdx.x / 128;

    if (threadIdx.x == 0) {
        for (int stage = 0; stage < WG_STAGES; stage++) {
            mbarrier_init(&full[stage], 1);
            mbarrier_init(&empty[stage], WG_GROUPS * 4);
        }
        mbarrier_init_done();
    }
    __syncthreads();

    /* [ask] The ninth warp. */
    if (group == WG_GROUPS) {
        for (int step = 0; step < steps && threadIdx.x % 32 == 0; step++) {
            const int at = step % WG_STAGES, round = step / WG_STAGES;
            char *const stage = stages + at * STAGE_BYTES;
            if (round > 0)
                mbarrier_wait(&empty[at], (round - 1) % 2);
            mbarrier_expect(&full[at], STAGE_BYTES);
            for (int i = 0; i < WG_ROWS / 64; i++)
                tma_load_box(stage + i * BOX_BYTES, &a, step * WG_DEPTH, (int)row + i * 64, 0, &full[at]);
            for (int i = 0; i < WG_COLUMNS / 64; i++)
                tma_load_box(stage + (WG_ROWS / 64 + i) * BOX_BYTES, &b, (int)column + i * 64, step * WG_DEPTH, 0,
                             &full[at]);
        }
        return;
    }

    /* [multiply] 16 columns of a are 32 bytes of its rows; 16 rows of b are 2048 bytes. */
    float sum[WG_COLUMNS / 8][4] = {};
    for (int step = 0; step < steps; step++) {
        const int at = step % WG_STAGES;
        const wgmma_matrix left = wgmma_matrix_of(stages + at * STAGE_BYTES + group * BOX_BYTES);
        const wgmma_matrix right = wgmma_matrix_of(stages + at * STAGE_BYTES + WG_ROWS / 64 * BOX_BYTES);
        mbarrier_wait(&full[at], step / WG_STAGES % 2);
        wgmma_begin();
#pragma unroll
        for (int k16 = 0; k16 < WG_DEPTH / 16; k16++)
            wgmma_multiply_shared<256, dtype == FP16>(sum, wgmma_matrix_at(left, k16 * 32),
                                                      wgmma_matrix_at(right, k16 * 2048), true);
        wgmma_commit();
        wgmma_wait<0>();
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&empty[at]); /* the tensor cores have read what this warp asked for */
    }

    /* [store] As in product_mma.cu. */
    const int lane = threadIdx.x % 32;
    const size_t first_row = row + group * 64 + threadIdx.x / 32 % 4 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < WG_COLUMNS / 8; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const size_t at_row = first_row + half * 8, at_column = column + i * 8 + lane % 4 * 2;
            if (at_row < m && at_column < n)
                *(unsigned *)(c + (at_row * n + at_column) * 2) = pack<dtype>(sum[i][half * 2], sum[i][half * 2 + 1]);
        }
}

/* Whether this kernel was compiled with wgmma's instructions. Without them it would trap (arch.h). */
#ifdef LINREC_SM_90A
static const bool has_wgmma = true;
#else
static const bool has_wgmma = false;
#endif

/* A tensor map of a matrix without gaps, moved in boxes of 64 x 64. */
static cudaError_t map_of(CUtensorMap *map, enum dtype dtype, const void *matrix, size_t rows, size_t columns)
{
    const size_t sizes[3] = {columns, rows, 1}, strides[2] = {columns * 2, rows * columns * 2};
    const unsigned box[3] = {64, 64, 1};
    return tensor_map_of(map, dtype == BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                         matrix, sizes, strides, box, true);
}

extern "C" cudaError_t product_wgmma(const struct product_args *args, cudaStream_t stream)
{
    struct gpu_info gpu;
    CUtensorMap a, b;
    bool done;
    cudaError_t error = product_begin(args, stream, &done);
    if (done || error != cudaSuccess)
        return error;
    const size_t tiles = product_num_tiles(args, WG_ROWS, WG_COLUMNS);
    if (tiles == 0 || args->dtype == FLOAT32 || args->n % 8 != 0 || args->k % 8 != 0)
        return cudaErrorInvalidValue;
    error = gpu_info_read(&gpu);
    const bool fits = args->m <= INT_MAX && args->n <= INT_MAX && args->k <= INT_MAX; /* a box's coordinates are int */
    if (error == cudaSuccess && (!has_wgmma || gpu.chip_arch >= 100 || !fits))
        error = cudaErrorNotSupported;
    const auto kernel = args->dtype == BF16 ? wgmma_product<BF16> : wgmma_product<FP16>;
    if (error == cudaSuccess)
        error = gpu_allow_shared((const void *)kernel, WG_STAGES * STAGE_BYTES, 90);
    if (error == cudaSuccess)
        error = map_of(&a, args->dtype, args->a, args->m, args->k);
    if (error == cudaSuccess)
        error = map_of(&b, args->dtype, args->b, args->k, args->n);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of((unsigned)tiles, WG_THREADS, WG_STAGES * STAGE_BYTES, stream);
    return cudaLaunchKernelEx(&launch, kernel, args->m, args->n, args->k, a, b, (char *)args->c);
}
