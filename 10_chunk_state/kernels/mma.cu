/* SPDX-License-Identifier: MIT */
/* mma.cu - low_rank.cu, with both products on the tensor cores (sm_80). They multiply transposed matrices:

       p' = h' Y         a step adds 16 columns x 8 rows of h' times 8 rows x 8 ranks of Y
       h' -= p' W'       a step adds 16 columns x 8 ranks of p' times 8 ranks x 8 rows of W'

   Of a block's 32 columns two warps have 16, one of them with the upper half of the rows and one with the lower half:

       warp 0                                     warp 1
       its rows' part of p'   ---- shared ---->   adds the two
       adds the two           <--- memory -----   its rows' part of p'
       for each tile of 8 rows:                   for each tile of 8 rows:
         its rows of p' W', new h'                  its rows of p' W', new h'
         what h' adds to the next chunk's p'        what h' adds to the next chunk's p'

   So the second product of a chunk and the first one of the next go through the tiles together, with no barrier
   between: while one waits for a result, the other one computes.

   A result of a step lies in the lanes otherwise than the matrix on the left of the next one (mma_sync.h): lane
   4 l + j holds elements 2 j and 2 j + 1 of a row, and should have j and j + 4. But a sum may be taken in any order. So
   element 2 j is called the j-th of the sum and 2 j + 1 the (j + 4)-th, and Y and W are read in this order. */
/* The simulator builds it quickly: tens of rows and ranks in registers, in unrolled loops, and 34 of each kernel. */
#include <cuda_runtime.h>

#include "../../common/cuda/arch.h"
#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "chunk_check.h"
#include "mma.cuh"
#include "mma_back.h"
#include "mma_copy.cuh"

/* tiles: of 8 rows, that a warp has, and ranks: of 8 ranks. backward: as mma_back.h says; in_float32 is for 16 bits. */
template <int dtype, int tiles, int ranks, bool backward>
static __global__ void __launch_bounds__(MMA_THREADS, 1)
    mma_walk(struct low_rank_plan plan, bool exclusive, const void *__restrict__ h_local,
             const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
             const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state,
             float *__restrict__ in_float32)
{
    extern __shared__ __align__(16) char memory[];
    const struct low_rank_block block = low_rank_block_of(&plan);
    stages_clear(&plan, memory);
    if (threadIdx.x >= LOW_RANK_CONSUMERS)
        return mma_copy_chunks<dtype, backward>(&plan, block, memory, exclusive, h_local, gamma, W, Y, h_out, false);
    const int bytes = (int)element_bytes(dtype), own = each<dtype, ranks>() * bytes;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, l = lane / 4, j = lane % 4;
    const int row = warp % 2 * tiles * 8 + j * 2, column = warp / 2 * 16 + l * 2;
    const size_t state = (block.head * plan.dk + row) * plan.dv + block.start + column;
    const struct low_rank_stage in = low_rank_stage_of(&plan); /* here what the thread has in a stage */
    const unsigned next = opaque(plan.stride * bytes), exclusive_mask = opaque(exclusive ? 0xFFFFFFFFu : 0u);
    const unsigned own_x = opaque((row * X_STRIDE + column) * bytes), own_gamma = opaque(in.gamma + row * 4);
    const unsigned own_y = opaque(in.y + row * next + l * own);
    const unsigned own_w = opaque(in.w + (row - j * 2 + l) * next + j * 2 * own);
    float4 *const parts = (float4 *)(memory + plan.stages * plan.stage_bytes) + warp * ranks * 32 + lane;
    const int others = (warp % 2 == 0 ? 32 : -32) * ranks;
    float h[tiles][4], p[ranks][4] = {}, rest[ranks][4] = {};
    const bool joins = backward && !exclusive && block.chunks != 0; /* d_h_out of the last chunk joins d_final_state */
    const size_t last = (block_first<backward>(&plan, block) * plan.dk + row) * plan.dv + block.start + column;
#pragma unroll
    for (int v = 0; v < tiles * 4; v++) { /* elements 0 and 2 of a tile are two columns of a row, 1 and 3 of the next */
        const size_t at = (v / 4 * 8 + v % 2) * plan.dv + v % 4 / 2;
        const bool inside = in_bounds(&plan, block, row + v / 4 * 8 + v % 2, column + v % 4 / 2);
        h[v / 4][v % 4] = initial_state != NULL && inside ? initial_state[state + at] : 0.0f;
        if (DEVICE_ARCH >= 90 && joins && inside)
            h[v / 4][v % 4] += read1<dtype>(h_local, last + at);
    }
    if (DEVICE_ARCH < 90 && joins) /* here sm_80 spills no register, and sm_90 does not where it stands above */
#pragma unroll
        for (int v = 0; v < tiles * 4; v++)
            if (in_bounds(&plan, block, row + v / 4 * 8 + v % 2, column + v % 4 / 2))
                h[v / 4][v % 4] += read1<dtype>(h_local, last + (v / 4 * 8 + v % 2) * plan.dv + v % 4 / 2);
    float *full = in_float32 + back_tile<tiles * 16>(&plan, block) + row * BLOCK_COLUMNS + column;
    struct stages stages = stages_of(&plan, memory);
    barrier_all<MMA_THREADS>();
#pragma unroll
    for (int i = 0; i < tiles; i++)
        project<dtype, ranks>(stages.current + own_y + i * 8 * next, next, h[i], p, rest);
    for (size_t k = 0; k < block.chunks; k++) {
        float big[ranks][4], small[ranks][4];
        float4 *const mine = parts + k % 2 * ranks * 128;
        char *const here = stages.current;
#pragma unroll
        for (int v = 0; v < ranks; v++) {
#pragma unroll
            for (int c = 0; c < 4; c++)
                p[v][c] += rest[v][c], rest[v][c] = 0.0f;
            mine[v * 32] = make_float4(p[v][0], p[v][1], p[v][2], p[v][3]);
        }
        barrier_in_chunk(stages.count); /* the other warp's parts are there, and the next chunk */
#pragma unroll
        for (int v = 0; v < ranks; v++) {
            const float4 more = mine[others + v * 32];
            const float sum[4] = {p[v][0] + more.x, p[v][1] + more.y, p[v][2] + more.z, p[v][3] + more.w};
            split_left(sum, big[v], small[v]);
            p[v][0] = p[v][1] = p[v][2] = p[v][3] = 0.0f;
        }
        stages_next(&stages);
        float t[2][4];
        multiply_back<dtype, ranks>(here + own_w, own, big, small, t[0]);
        /* [tiles] The second product of this chunk, its new h, and the first product of the next chunk. */
#pragma unroll
        for (int i = 0; i < tiles; i++) {
            /* the next tile's, so that there is something to do while this one's result is awaited */
            if (i + 1 < tiles)
                multiply_back<dtype, ranks>(here + own_w + (i + 1) * 8 * next, own, big, small, t[(i + 1) % 2]);
#pragma unroll
            for (int c = 0; c < 2; c++) { /* two rows; h_out takes the place of h_local */
                const int of = i * 8 + c;
                const float g = *(const float *)(here + own_gamma + of * 4), left = h[i][c], right = h[i][c + 2];
                float x[2];
                read2<dtype>(here + own_x, of * X_STRIDE, x);
                h[i][c] = g * left - t[i % 2][c] + x[0];
                h[i][c + 2] = g * right - t[i % 2][c + 2] + x[1];
                x[0] = backward ? left : select_bits(exclusive_mask, left, h[i][c]);
                x[1] = backward ? right : select_bits(exclusive_mask, right, h[i][c + 2]);
                if (backward && dtype != FLOAT32)
                    write2<FLOAT32>(full, of * BLOCK_COLUMNS, x);
                write2<dtype>(here + own_x, of * X_STRIDE, x);
            }
            project<dtype, ranks>(stages.current + own_y + i * 8 * next, next, h[i], p, rest); /* of the next chunk */
        }
        /* [done] The results are stored after the barrier in the middle of the next chunk. */
        full -= back_step<tiles * 16>(&plan);
    }
    barrier_all<MMA_THREADS>(); /* the last chunk is done */
#pragma unroll
    for (int v = 0; v < tiles * 4; v++)
        if (final_state != NULL && in_bounds(&plan, block, row + v / 4 * 8 + v % 2, column + v % 4 / 2))
            final_state[state + (v / 4 * 8 + v % 2) * plan.dv + v % 4 / 2] = h[v / 4][v % 4];
}

/* Of arguments that are right, and not for wgmma. */
template <bool backward>
static cudaError_t launch(const struct chunk_state_args *args, const struct low_rank_plan *plan, float *in_float32,
                          cudaStream_t stream)
{
#define BY_RANKS(dtype, tiles, most)                                                                                   \
    {                                                                                                                  \
        mma_walk<dtype, tiles, 2, backward>, mma_walk<dtype, tiles, 4, backward>,                                      \
            mma_walk<dtype, tiles, most, backward>                                                                     \
    }
    enum { MOST = backward ? 4 : 8 }; /* of 16 bits, with more than 64 rows (mma_back_fits) */
    static const decltype(&mma_walk<FLOAT32, 4, 2, backward>) kernels[NUM_DTYPES][2][3] = {
        {BY_RANKS(FLOAT32, 4, 8), BY_RANKS(FLOAT32, 8, 8)},
        {BY_RANKS(BF16, 4, 8), BY_RANKS(BF16, 8, MOST)},
        {BY_RANKS(FP16, 4, 8), BY_RANKS(FP16, 8, MOST)}};
    const int size = args->dk > MMA_MAX_ROWS / 2, many = args->rank <= 16 ? 0 : args->rank <= 32 ? 1 : 2;
    const auto kernel = kernels[args->dtype][size][many];
    const size_t shared = plan->stages * (size_t)plan->stage_bytes + MMA_PARTS_BYTES(plan->padded);
    const cudaError_t error = gpu_allow_shared((const void *)kernel, shared, 80);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan->blocks, MMA_THREADS, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, *plan, args->exclusive, args->h_local, args->gamma, args->W, args->Y,
                              args->initial_state, args->h_out, args->final_state, in_float32);
}

extern "C" cudaError_t chunk_state_mma(const struct chunk_state_args *args, cudaStream_t stream)
{
    struct low_rank_plan plan;
    bool done;
    if (args->rank == 0) /* nothing to multiply */
        return chunk_state_low_rank(args, stream);
    if (chunk_state_is_for_wgmma(args, NULL))
        return chunk_state_wgmma(args, stream);
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = mma_plan_of(args, NULL, &plan);
    if (!done && error == cudaErrorNotSupported &&
        args->config.stages == 0) /* shared memory does not hold two stages */
        return chunk_state_low_rank(args, stream);
    return done || error != cudaSuccess ? error : launch<false>(args, &plan, NULL, stream);
}

extern "C" cudaError_t mma_back(const struct chunk_state_args *args, float *in_float32, cudaStream_t stream)
{
    struct low_rank_plan plan;
    if (chunk_state_is_for_wgmma(args, NULL))
        return wgmma_back(args, in_float32, stream);
    const cudaError_t error = mma_plan_of(args, NULL, &plan);
    return error == cudaSuccess ? launch<true>(args, &plan, in_float32, stream) : error;
}
