/* SPDX-License-Identifier: MIT */
/* wgmma.cu - mma.cu for W and Y of bf16 on sm_90, whose tensor cores read them out of the stage by themselves
   (wgmma.h). h and p, which are float32, are split into three bf16 numbers (wgmma.cuh). A warp has 8 columns of
   the state with all their rows, and their parts are its 16 rows of the matrices on the left:

       h' Y, p' W'     row l        big part of column l       nothing             lane 4 l + j: elements 2 j, 2 j + 1
                       row l + 8    middle part of it          small part of it    of every 8, of the results, too
                                    first product              second product

   So a lane has all that belongs to its elements of a column, no warp needs another one's sums, and a result becomes
   the next matrix on the left where it is. For each chunk:

       the warps                                                    the tensor cores
       p is there: split it, ask for p' W' of all rows              p' W', 32 rows ...
       barrier: the next chunk is there                             ... p' W', 32 rows
       32 rows of it are there: new h, split it, ask for h' Y       h' Y of 32 rows, for the next chunk
       32 rows of it are there: new h, split it, ask for h' Y       h' Y of 32 rows */
/* The simulator builds it quickly: tens of rows and ranks in registers, in unrolled loops, and 18 of each kernel. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "../../common/cuda/tma.h"

#include "kernels.h"
#include "chunk_check.h"
#include "mma_back.h"
#include "mma_copy.cuh"
#include "wgmma.cuh"

/* tiles: of 32 rows. ranks: 32 or 64. backward: as in mma.cu. */
template <int tiles, int ranks, bool backward>
static __global__ void __launch_bounds__(MMA_THREADS, 1)
    wgmma_walk(struct low_rank_plan plan, bool exclusive, const void *__restrict__ h_local,
               const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
               const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state,
               float *__restrict__ in_float32)
{
    extern __shared__ __align__(1024) char memory[];
    const unsigned next_x = X_STRIDE * 2;
    const struct low_rank_block block = low_rank_block_of(&plan);
    stages_clear(&plan, memory);
    if (threadIdx.x >= LOW_RANK_CONSUMERS)
        return mma_copy_chunks<BF16, backward>(&plan, block, memory, exclusive, h_local, gamma, W, Y, h_out, true);
    const int lane = threadIdx.x % 32, row = lane % 4 * 2, column = threadIdx.x / 32 * 8 + lane / 4;
    const size_t state = (block.head * plan.dk + row) * plan.dv + block.start + column;
    const struct low_rank_stage in = low_rank_stage_of(&plan);
    const unsigned exclusive_mask = opaque(exclusive || backward ? 0xFFFFFFFFu : 0u);
    const unsigned own_x = opaque(row * next_x + column * 2), own_gamma = opaque(in.gamma + row * 4);
    const wgmma_matrix w = wgmma_matrix_of(memory + in.w);
    const wgmma_matrix y = wgmma_matrix_of(memory + in.y);
    float h[tiles * 4][2], p[ranks / 8][4];              /* of every 8 rows of h the lane's two */
    struct left_operand split_h[4], split_p[ranks / 16]; /* of 16 rows, of 16 ranks */
#pragma unroll
    for (int v = 0; v < 4; v++)
        left_clear(&split_h[v]);
#pragma unroll
    for (int r = 0; r < ranks / 16; r++)
        left_clear(&split_p[r]);
#pragma unroll
    for (int v = 0; v < tiles * 8; v++)
        h[v / 2][v % 2] = initial_state != NULL && in_bounds(&plan, block, row + v / 2 * 8 + v % 2, column)
                              ? initial_state[state + (v / 2 * 8 + v % 2) * plan.dv]
                              : 0.0f;
    if (backward && !exclusive && block.chunks != 0) { /* d_h_out of the last chunk */
        const size_t last = (block_first<true>(&plan, block) * plan.dk + row) * plan.dv + block.start + column;
#pragma unroll
        for (int v = 0; v < tiles * 8; v++)
            if (in_bounds(&plan, block, row + v / 2 * 8 + v % 2, column))
                h[v / 2][v % 2] += read1<BF16>(h_local, last + (v / 2 * 8 + v % 2) * plan.dv);
    }
    float *full = in_float32 + back_tile<tiles * 32>(&plan, block) + row * BLOCK_COLUMNS + column;
    unsigned stage = 0;
    const unsigned end = plan.stages * plan.stage_bytes;
    barrier_all<MMA_THREADS>();
    fence_proxy_async(); /* the tensor cores see what was copied */
#pragma unroll
    for (int s = 0; s < tiles * 2; s++) {
        project<ranks>(p, &split_h[s % 4], h + s * 2, wgmma_matrix_at(y, s * 16 * 128), s != 0);
        wgmma_commit();
        if (s % 4 == 3)
            wgmma_wait<0>();
    }
    for (size_t k = 0; k < block.chunks; k++) {
        char *const here = memory + stage;
        const wgmma_matrix here_w = wgmma_matrix_at(w, stage);
        float t[2][4][4], x[tiles * 4][2];
        float2 g[tiles * 4];
#pragma unroll
        for (int c = 0; c < tiles * 4; c++) { /* now: loads wait for the products that were asked for before them */
            const char *const from = here + own_x + c * 8 * next_x;
            x[c][0] = read1<BF16>(from, 0), x[c][1] = read1<BF16>(from, X_STRIDE);
            g[c] = *(const float2 *)(here + own_gamma + c * 32);
        }
        wgmma_wait<0>(); /* p is there */
#pragma unroll
        for (int r = 0; r < ranks / 16; r++) {
            split_sums(&split_p[r], p + r * 2);
            wgmma_begin();
            multiply<32, false>(t[0], &split_p[r], wgmma_matrix_at(here_w, r * 32), r != 0);
        }
        wgmma_commit();
        multiply_back<ranks>(t[1], split_p, wgmma_matrix_at(here_w, 32 * 128));
        wgmma_commit();
        barrier_in_chunk(plan.stages); /* the next chunk is there */
        fence_proxy_async();
        stage = stage + plan.stage_bytes == end ? 0 : stage + plan.stage_bytes;
        const wgmma_matrix next_y = wgmma_matrix_at(y, stage);
#pragma unroll
        for (int i = 0; i < tiles; i++) {
            unsigned out[4];
#pragma unroll
            for (int c = 0; c < 4; c++)
                out[c] = pack<BF16>(h[i * 4 + c][0], h[i * 4 + c][1]) & exclusive_mask;
#pragma unroll
            for (int v = 0; v < 8 && backward; v++)
                full[(i * 32 + v / 2 * 8 + v % 2) * BLOCK_COLUMNS] = h[i * 4 + v / 2][v % 2];
            /* [rows] 32 rows of the new h, and what they add to the p of the next chunk. */
            wgmma_wait<1>();
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const int of = i * 4 + c;
                const float *const s = t[i % 2][c];
                h[of][0] = g[of].x * h[of][0] - (s[0] + s[2]) + x[of][0];
                h[of][1] = g[of].y * h[of][1] - (s[1] + s[3]) + x[of][1];
                if (c % 2 == 1) /* of the next chunk */
                    project<ranks>(p, &split_h[of / 2 % 4], h + of - 1, wgmma_matrix_at(next_y, of / 2 * 16 * 128),
                                   of != 1);
            }
            if (i + 2 < tiles)
                multiply_back<ranks>(t[i % 2], split_p, wgmma_matrix_at(here_w, (i + 2) * 32 * 128));
            wgmma_commit();
            /* [store] h_out takes the place of h_local. */
#pragma unroll
            for (int c = 0; c < 4; c++) {
                char *const to = here + own_x + (i * 4 + c) * 8 * next_x;
                out[c] |= pack<BF16>(h[i * 4 + c][0], h[i * 4 + c][1]) & ~exclusive_mask;
                *(unsigned short *)to = (unsigned short)out[c];
                *(unsigned short *)(to + next_x) = (unsigned short)(out[c] >> 16);
            }
        }
        full -= back_step<tiles * 32>(&plan);
    }
    wgmma_wait<0>();
    barrier_all<MMA_THREADS>(); /* the last chunk is done */
#pragma unroll
    for (int v = 0; v < tiles * 8; v++)
        if (final_state != NULL && in_bounds(&plan, block, row + v / 2 * 8 + v % 2, column))
            final_state[state + (v / 2 * 8 + v % 2) * plan.dv] = h[v / 2][v % 2];
}

/* Whether these kernels were compiled with wgmma's instructions. Without them they would trap (arch.h). */
#ifdef LINREC_SM_90A
static const bool has_wgmma = true;
#else
static const bool has_wgmma = false;
#endif

/* With smaller ranks it is not faster, at the proposal's shape on an H200 (wgmma.md). */
enum { WGMMA_MIN_RANK = 24 };

/* W and Y are bf16, in rows of whole 16 bytes, and chip and code are sm_90a. */
extern "C" bool chunk_state_is_for_wgmma(const struct chunk_state_args *args, const struct gpu_info *of_gpu)
{
    struct gpu_info gpu;
    struct low_rank_plan plan;
    if (!has_wgmma || args->dtype != BF16 || args->rank < WGMMA_MIN_RANK || args->rank % 8 != 0)
        return false;
    if (of_gpu != NULL)
        gpu = *of_gpu;
    else if (gpu_info_read(&gpu) != cudaSuccess)
        return false;
    return gpu.arch >= 90 && gpu.chip_arch < 100 && wgmma_plan_of(args, &gpu, &plan) == cudaSuccess;
}

/* Of arguments that are right. */
template <bool backward>
static cudaError_t launch(const struct chunk_state_args *args, float *in_float32, cudaStream_t stream)
{
    static const decltype(&wgmma_walk<2, 32, backward>) kernels[2][2] = {
        {wgmma_walk<2, 32, backward>, wgmma_walk<2, 64, backward>},
        {wgmma_walk<4, 32, backward>, wgmma_walk<4, 64, backward>}};
    struct low_rank_plan plan;
    cudaError_t error = wgmma_plan_of(args, NULL, &plan);
    if (error != cudaSuccess)
        return error;
    const auto kernel = kernels[args->dk > MMA_MAX_ROWS / 2][args->rank > 32];
    const size_t shared = plan.stages * (size_t)plan.stage_bytes;
    error = gpu_allow_shared((const void *)kernel, shared, 90);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan.blocks, MMA_THREADS, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, args->h_local, args->gamma, args->W, args->Y,
                              args->initial_state, args->h_out, args->final_state, in_float32);
}

extern "C" cudaError_t chunk_state_wgmma(const struct chunk_state_args *args, cudaStream_t stream)
{
    bool done;
    if (!has_wgmma)
        return cudaErrorNotSupported;
    const cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    return done ? error : launch<false>(args, NULL, stream);
}

extern "C" cudaError_t wgmma_back(const struct chunk_state_args *args, float *in_float32, cudaStream_t stream)
{
    return launch<true>(args, in_float32, stream);
}
