/* SPDX-License-Identifier: MIT */
/* mma_backward.cu - the gradients with W and Y as products on the tensor cores, in three launches: mma.cu for the
   states h before the chunks, unless the caller has kept them; mma.cu backward in time for the states' gradients d_h
   (mma_back.h); and then, with nothing left that one chunk needs of another, blocks that take any chunks of any heads,
   one after the other:

       P = Y' h         d_gamma = sum of d_h h over columns         each of eight warps has 8 rows of d_gamma, of 64;
       Q = W' d_h       d_W = -d_h P', d_Y = -h Q'                  four have P and d_W, four Q and d_Y, and each of
                                                                    four 16 columns of P or Q, and 16 rows, of 64

   It brings h and d_h once, 64 columns at a time, and W and Y, those of the next chunk as soon as nobody needs these.
   All columns of a head are in one block, so no sums are left to add up: no atomics, always the same bits. d_h of 16
   bits comes from the workspace, where it is not rounded. */
/* The simulator builds it quickly: tens of rows and ranks in registers, in unrolled loops, and 18 of each kernel. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"
#include "chunk_check.h"
#include "copy_rows.cuh"
#include "kernels.h"
#include "mma_back.h"
#include "mma_sums.cuh"

/* Each quarter of the block copies one thing: columns of h, columns of d_h, W, or Y. */
enum quarter { COPIES_H, COPIES_D, COPIES_W, COPIES_Y };

/* Asks for the columns from `start` on of a chunk, or for its W or Y; with d_h of 16 bits as float32, in tiles. */
template <int dtype>
static __device__ __forceinline__ void sums_copy(const struct mma_sums_plan *plan, char *memory, const void *states,
                                                 const void *d_h, const void *W, const void *Y, size_t chunk,
                                                 size_t start)
{
    const int bytes = (int)element_bytes(dtype), thread = threadIdx.x % (SUM_THREADS / 4);
    const int columns = (int)min(plan->dv - start, (size_t)SUM_COLUMNS), w_bytes = plan->rank * bytes;
    const enum quarter quarter = (enum quarter)(threadIdx.x / (SUM_THREADS / 4));
    if (quarter == COPIES_D && dtype != FLOAT32) {
        const size_t tile = plan->rows * BLOCK_COLUMNS * sizeof(float);
        const char *const d = (const char *)d_h + (chunk * plan->slices + start / BLOCK_COLUMNS) * tile;
        for (int at = 0; at < columns; at += BLOCK_COLUMNS) {
            const struct share share =
                share_of(thread, 64, d + at / BLOCK_COLUMNS * tile, BLOCK_COLUMNS * 4, plan->d + at * 4, SUM_STRIDE * 4,
                         plan->dk, min(columns - at, (int)BLOCK_COLUMNS) * 4, plan->d_vector);
            share_copy<FLOAT32>(&share, memory);
        }
        return;
    }
    const bool of_state = quarter == COPIES_H || quarter == COPIES_D;
    const size_t row = of_state ? plan->dv * bytes : (size_t)w_bytes;
    const void *const array = quarter == COPIES_H ? states : quarter == COPIES_D ? d_h : quarter == COPIES_W ? W : Y;
    const unsigned to = quarter == COPIES_H   ? 0
                        : quarter == COPIES_D ? plan->d
                        : quarter == COPIES_W ? plan->w
                                              : plan->y;
    const struct share share =
        share_of(thread, 64, (const char *)array + chunk * plan->dk * row + (of_state ? start * bytes : 0), row, to,
                 (of_state ? (int)SUM_STRIDE : plan->padded + SUM_PADDING) * bytes, plan->dk,
                 of_state ? columns * bytes : w_bytes, of_state ? plan->x_vector : plan->w_vector);
    share_copy<dtype>(&share, memory);
}

/* Writes a chunk's d_W or d_Y, and its d_gamma, of which each lane has a quarter of a row of every SUM_ROWS. */
template <int dtype, int tiles, int ranks>
static __device__ __forceinline__ void sums_write(const struct mma_sums_plan *plan, size_t chunk,
                                                  float sum[tiles][ranks][4], float of_gamma[tiles], void *out,
                                                  float *d_gamma)
{
    __shared__ float of_warps[SUM_THREADS / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, within = warp % 4;
    const size_t matrix = chunk * plan->dk * plan->rank;
#pragma unroll
    for (int v = 0; v < tiles * ranks * 2; v++) { /* two neighbours of a row */
        const int t = v / 2 / ranks, r = v / 2 % ranks, half = v % 2;
        const int row = t * SUM_ROWS + within * 16 + half * 8 + lane / 4, rank = r * 8 + lane % 4 * 2;
        const size_t at = matrix + (size_t)row * plan->rank + rank;
        const float two[2] = {-sum[t][r][half * 2], -sum[t][r][half * 2 + 1]};
        if (row < plan->dk && rank < plan->rank && plan->rank % 2 == 0)
            write2<dtype>(out, at, two);
        else if (row < plan->dk && rank < plan->rank) {
            write1<dtype>(out, at, two[0]);
            if (rank + 1 < plan->rank)
                write1<dtype>(out, at + 1, two[1]);
        }
    }
    float all = 0.0f;
#pragma unroll
    for (int t = 0; t < tiles; t++) {
        const int row = t * SUM_ROWS + warp * 8 + lane / 4;
        of_gamma[t] += __shfl_xor_sync(0xFFFFFFFFu, of_gamma[t], 1);
        of_gamma[t] += __shfl_xor_sync(0xFFFFFFFFu, of_gamma[t], 2);
        if (plan->decays != 1 && lane % 4 == 0 && row < plan->dk)
            d_gamma[chunk * plan->dk + row] = of_gamma[t];
        all += of_gamma[t];
    }
    if (plan->decays != 1)
        return;
    for (int apart = 4; apart < 32; apart *= 2) /* over the rows, too */
        all += __shfl_xor_sync(0xFFFFFFFFu, all, apart);
    if (lane == 0)
        of_warps[warp] = all;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < SUM_THREADS / 32; w++)
            all += of_warps[w];
        d_gamma[chunk] = all;
    }
}

/* tiles: of SUM_ROWS rows. ranks: of 8 ranks. */
template <int dtype, int tiles, int ranks>
static __global__ void __launch_bounds__(SUM_THREADS, tiles == 1 ? (ranks == 2 ? 3 : 2) : 1)
    mma_sums(struct mma_sums_plan plan, const void *__restrict__ states, const void *__restrict__ W,
             const void *__restrict__ Y, const void *__restrict__ d_h, float *__restrict__ d_gamma,
             void *__restrict__ d_W, void *__restrict__ d_Y)
{
    extern __shared__ __align__(16) char memory[];
    const int bytes = (int)element_bytes(dtype), warp = threadIdx.x / 32, lane = threadIdx.x % 32, within = warp % 4;
    const bool is_w = warp < 4;
    const char *const h = memory, *const d = memory + plan.d;
    float *const p = (float *)(memory + (is_w ? plan.p : plan.q));
    int had = 0; /* columns that are in shared memory, or were just now; 0: nothing has come yet */
    const bool copies_w = threadIdx.x >= SUM_THREADS / 2; /* or Y; the others copy h or d_h */
#pragma unroll 1
    for (size_t chunk = blockIdx.x; chunk < plan.chunks; chunk += gridDim.x) {
        float sum[tiles][ranks][4] = {}, of_gamma[tiles] = {};
#pragma unroll 1
        for (size_t start = 0; start < plan.dv; start += SUM_COLUMNS) {
            const int columns = (int)min(plan.dv - start, (size_t)SUM_COLUMNS);
            if (had != 0)
                __syncthreads(); /* the columns before are done */
            if (columns != had && !plan.full) {
                for (unsigned i = threadIdx.x; i < (had == 0 ? plan.p : plan.w) / 16; i += SUM_THREADS)
                    ((float4 *)memory)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                __syncthreads();
            }
            if (!copies_w || had == 0)
                sums_copy<dtype>(&plan, memory, states, d_h, W, Y, chunk, start);
            had = columns;
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncthreads();
            /* [products] Over rows, by 16 columns a warp; and then over columns, by 16 rows a warp. */
            if (within * 16 < columns) {
                if (dtype == FLOAT32 || !is_w)
                    sums_project<dtype, FLOAT32, ranks * 8>(memory + (is_w ? plan.y : plan.w),
                                                            (is_w ? h : d) + within * 64, plan.dk, p + within * 16);
                else
                    sums_project<dtype, dtype, ranks * 8>(memory + plan.y, h + within * 16 * bytes, plan.dk,
                                                          p + within * 16);
            }
#pragma unroll
            for (int t = 0; t < tiles; t++) /* of d_gamma a quarter of a row */
                for (int c = lane % 4 * 2; c < columns; c += 8) {
                    const int at = (t * SUM_ROWS + warp * 8 + lane / 4) * SUM_STRIDE + c;
                    float x[2], y[2];
                    read2<FLOAT32>(d, at, x);
                    read2<dtype>(h, at, y);
                    of_gamma[t] += x[0] * y[0];
                    of_gamma[t] += x[1] * y[1];
                }
            __syncthreads(); /* P and Q are there, and W and Y are not needed any more */
            if (copies_w && start + SUM_COLUMNS >= plan.dv && chunk + gridDim.x < plan.chunks)
                sums_copy<dtype>(&plan, memory, states, d_h, W, Y, chunk + gridDim.x, 0); /* those of the next chunk */
            if (dtype == FLOAT32 || is_w)
                sums_outer<FLOAT32, tiles, ranks>((is_w ? d : h) + within * 16 * SUM_STRIDE * 4, p, columns, sum);
            else
                sums_outer<dtype, tiles, ranks>(h + within * 16 * SUM_STRIDE * bytes, p, columns, sum);
            /* [done] */
        }
        sums_write<dtype, tiles, ranks>(&plan, chunk, sum, of_gamma, is_w ? d_W : d_Y, d_gamma);
    }
}

/* Bytes of d_h in float32. */
static size_t d_bytes(const struct chunk_state_args *args)
{
    const size_t slices = (args->dv + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    return args->dtype == FLOAT32
               ? 0
               : args->batch * args->chunks * args->heads * slices * mma_rows(args) * BLOCK_COLUMNS * sizeof(float);
}

/* d_h in float32 comes first. */
extern "C" size_t chunk_state_mma_workspace(const struct chunk_state_args *args, bool backward)
{
    if (!backward)
        return 0;
    return chunk_state_mma_fits(args, NULL, true) ? d_bytes(args) + backward_workspace(args, 1, 1)
                                                  : chunk_state_low_rank_workspace(args, true);
}

extern "C" cudaError_t chunk_state_mma_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
#define BY_RANKS(dtype, tiles)                                                                                         \
    {                                                                                                                  \
        mma_sums<dtype, tiles, 2>, mma_sums<dtype, tiles, 4>, mma_sums<dtype, tiles, 8>                                \
    }
    static const decltype(&mma_sums<FLOAT32, 1, 2>) kernels[NUM_DTYPES][2][3] = {
        {BY_RANKS(FLOAT32, 1), BY_RANKS(FLOAT32, 2)},
        {BY_RANKS(BF16, 1), BY_RANKS(BF16, 2)},
        {BY_RANKS(FP16, 1), BY_RANKS(FP16, 2)}};
    struct chunk_state_args behind = *args, back = *args;
    struct low_rank_plan walk;
    struct mma_sums_plan plan;
    struct backward_space space;
    struct gpu_info gpu;
    int resident = 0;
    bool done;
    if (args->rank == 0) /* nothing to multiply */
        return chunk_state_low_rank_backward(args, stream);
    cudaError_t error = chunk_state_begin(args, true, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done && error == cudaSuccess)
        error = gpu_info_read(&gpu);
    if (!done && error == cudaSuccess && !chunk_state_is_for_wgmma(args, &gpu))
        error = mma_back_fits(args) ? mma_plan_of(args, &gpu, &walk) : cudaErrorNotSupported;
    if (!done && error == cudaSuccess)
        error = mma_sums_plan_of(args, &gpu, &plan);
    if (!done && error == cudaErrorNotSupported && args->config.stages == 0) /* registers or shared memory do not do */
        return chunk_state_low_rank_backward(args, stream);
    if (done || error != cudaSuccess)
        return error;
    const size_t used = d_bytes(args);
    if (used != 0 && (args->workspace == NULL || args->workspace_size < used))
        return cudaErrorInvalidValue;
    const auto kernel = kernels[args->dtype][plan.rows > SUM_ROWS][plan.padded <= 16 ? 0 : plan.padded / 32];
    behind.workspace = used != 0 ? (char *)args->workspace + used : args->workspace;
    behind.workspace_size = args->workspace_size - used;
    error = gpu_allow_shared((const void *)kernel, plan.bytes, 80);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, SUM_THREADS, plan.bytes);
    if (error == cudaSuccess)
        error = backward_space(&behind, 1, 1, chunk_state_mma, stream, &space);
    if (error != cudaSuccess)
        return error;
    back.h_local = args->d_h_out;
    back.W = args->Y;
    back.Y = args->W;
    back.initial_state = args->d_final_state;
    back.h_out = args->d_h_local;
    back.final_state = args->d_initial_state;
    float *const in_float32 = used != 0 ? (float *)args->workspace : NULL;
    error = mma_back(&back, in_float32, stream);
    if (error != cudaSuccess)
        return error;
    const size_t most = (size_t)resident * gpu.multiprocessors;
    const cudaLaunchConfig_t launch =
        launch_of(plan.chunks < most ? plan.chunks : (unsigned)most, SUM_THREADS, plan.bytes, stream);
    return cudaLaunchKernelEx(&launch, kernel, plan, space.states, args->W, args->Y,
                              in_float32 != NULL ? in_float32 : (const void *)args->d_h_local, args->d_gamma, args->d_W,
                              args->d_Y);
}
