/* SPDX-License-Identifier: MIT */
/* low_rank_backward.cu - the gradients with W and Y, from the last chunk to the first: low_rank.cu with d_h in the
   registers and W and Y in each other's place. With the state h before the chunk, which the caller has kept or forward
   computes once more,

       p = Y^T h,  q = W^T d_h                    sums over rows: by four consumer warps
       d_h = gamma d_h - Y q                      for the chunk before
       d_gamma = sum of d_h h                     sums over columns: a step later by four summing warps, from what the
       d_W = -d_h p',  d_Y = -h q'                consumers leave in the stage

   Four producer warps copy. The sums of several blocks of a head go to the workspace, and a second launch adds them up.
   No atomics, so always the same bits. */
/* The simulator builds it quickly: tens of rows and ranks in registers, in unrolled loops, and 18 of each kernel. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "backward_space.h"
#include "kernels.h"
#include "chunk_check.h"
#include "low_rank_backward_copy.cuh"
#include "low_rank_products.cuh"
#include "low_rank_sums.cuh"

template <int dtype, int rows, int ranks>
static __global__ void __launch_bounds__(LOW_RANK_BACK_THREADS, 1)
    low_rank_backward(struct low_rank_plan plan, bool exclusive, const void *__restrict__ states,
                      const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                      const void *__restrict__ d_h_out, const float *__restrict__ d_final_state,
                      void *__restrict__ d_h_local, float *__restrict__ d_initial_state, struct part_counts counts,
                      float *__restrict__ parts)
{
    extern __shared__ __align__(16) char memory[];
    const struct low_rank_block block = low_rank_block_of(&plan);
    constexpr int stride = BACK_STRIDE(dtype, rows * ROW_LANES);
    stages_clear(&plan, memory);
    if (threadIdx.x >= LOW_RANK_CONSUMERS + LOW_RANK_SUMMING) {
        low_rank_back_copy<dtype>(&plan, block, memory, stride, exclusive, states, gamma, W, Y, d_h_out, d_h_local);
        return;
    }
    if (threadIdx.x >= LOW_RANK_CONSUMERS) {
        low_rank_back_sum<dtype>(&plan, block, memory, stride, counts, parts + blockIdx.x % plan.slices * counts.all);
        return;
    }
    const int bytes = (int)element_bytes(dtype), lane = threadIdx.x % 32, part = lane / COLUMN_LANES;
    const int column = threadIdx.x / 32 * COLUMN_LANES * 2 + lane % COLUMN_LANES * 2;
    const size_t state = (block.head * plan.dk + part) * plan.dv + block.start + column, step = ROW_LANES * plan.dv;
    const struct low_rank_back_stage in =
        low_rank_back_stage_of<dtype>(&plan); /* here what the thread has in a stage */
    const unsigned own_x = opaque(in.x + (part * stride + column) * bytes),
                   own_d = opaque(in.d + (part * stride + column) * 4);
    const unsigned own_h = opaque(own_x + in.h), w_step = opaque(ROW_LANES * plan.stride * bytes);
    const unsigned own_w = opaque(in.w + part * plan.stride * bytes), own_y = opaque(own_w + in.y - in.w);
    const unsigned own_gamma = opaque(in.gamma + part * 4);
    const unsigned own_p =
        opaque(in.p + (threadIdx.x / 32 * plan.padded * COLUMN_LANES * 2 + lane % COLUMN_LANES * 2) * 4);
    const unsigned own_q = opaque(own_p + in.q - in.p);
    const int padded = ranks == 4 && rows * ROW_LANES < 256 ? 4 : opaque(plan.padded);
    const bool single_stage = plan.stages == 1;
    float d[rows][2];
#pragma unroll
    for (int v = 0; v < rows * 2; v++)
        d[v / 2][v % 2] = d_final_state != NULL && in_bounds(&plan, block, v / 2 * ROW_LANES + part, column + v % 2)
                              ? d_final_state[state + v / 2 * step + v % 2]
                              : 0.0f;
    struct stages stages = stages_of(&plan, memory);
    for (size_t k = 0; k < block.chunks; k++, stages_next(&stages)) {
        char *const here = stages.current;
        float *const p = (float *)(here + own_p), *const q = (float *)(here + own_q);
        barrier_all<LOW_RANK_BACK_THREADS>();
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks) {
            float h[rows][2];
#pragma unroll
            for (int i = 0; i < rows; i++)
                read2<dtype>(here + own_h, i * ROW_LANES * stride, h[i]);
            project<dtype, rows, ranks>(here + own_y + r * bytes, w_step, h, p + r * COLUMN_LANES * 2);
        }
#pragma unroll
        for (int i = 0; i < rows; i++) {
            float x[2];
            read2<dtype>(here + own_x, i * ROW_LANES * stride, x);
            d[i][0] += x[0], d[i][1] += x[1];
            write2<dtype>(here + own_x, i * ROW_LANES * stride, d[i]);
            if (dtype != FLOAT32)
                write2<FLOAT32>(here + own_d, i * ROW_LANES * stride, d[i]);
        }
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            project<dtype, rows, ranks>(here + own_w + r * bytes, w_step, d, q + r * COLUMN_LANES * 2);
#pragma unroll
        for (int i = 0; i < rows; i++) {
            const float g = ((const float *)(here + own_gamma))[i * ROW_LANES];
            d[i][0] *= g, d[i][1] *= g;
        }
        __syncwarp(); /* all lanes' sums are there */
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            subtract<dtype, rows, ranks>(here + own_y + r * bytes, w_step, q + r * COLUMN_LANES * 2, d);
        if (single_stage) {
            barrier_all<LOW_RANK_BACK_THREADS>();
            barrier_all<LOW_RANK_BACK_THREADS>();
        }
    }
    if (!single_stage) {
        barrier_all<LOW_RANK_BACK_THREADS>();
        barrier_all<LOW_RANK_BACK_THREADS>();
    }
    if (d_initial_state == NULL)
        return;
    const size_t first = block.zero * plan.dk * plan.dv + state - block.head * plan.dk * plan.dv; /* of chunk 0 */
#pragma unroll
    for (int v = 0; v < rows * 2; v++)
        if (in_bounds(&plan, block, v / 2 * ROW_LANES + part, column + v % 2))
            d_initial_state[state + v / 2 * step + v % 2] =
                d[v / 2][v % 2] +
                (exclusive && block.chunks != 0 ? read1<dtype>(d_h_out, first + v / 2 * step + v % 2) : 0.0f);
}

extern "C" cudaError_t chunk_state_low_rank_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    /* up to 64, 128 or 256 rows; 4 ranks, or 8 at a time */
#define BY_ROWS(dtype, ranks)                                                                                          \
    {                                                                                                                  \
        low_rank_backward<dtype, 64 / ROW_LANES, ranks>, low_rank_backward<dtype, 128 / ROW_LANES, ranks>,             \
            low_rank_backward<dtype, 256 / ROW_LANES, 4>                                                               \
    }
    static const decltype(&low_rank_backward<FLOAT32, 8, 4>) kernels[NUM_DTYPES][2][3] = {
        {BY_ROWS(FLOAT32, 4), BY_ROWS(FLOAT32, 8)},
        {BY_ROWS(BF16, 4), BY_ROWS(BF16, 8)},
        {BY_ROWS(FP16, 4), BY_ROWS(FP16, 8)}};
    const int size = args->dk <= 64 ? 0 : args->dk <= 128 ? 1 : 2;
    struct low_rank_plan plan;
    struct backward_space space;
    struct chunk_state_args behind = *args;
    bool done;
    cudaError_t error = chunk_state_begin(args, true, CHUNK_STATE_MAX_RANK, stream, &done);
    if (done)
        return error;
    const size_t used = low_rank_parts_bytes(args);
    if (args->workspace == NULL || args->workspace_size < used)
        return cudaErrorInvalidValue;
    behind.workspace = (char *)args->workspace + used;
    behind.workspace_size = args->workspace_size - used;
    error = low_rank_back_plan_of(args, NULL, &plan);
    if (error == cudaErrorNotSupported && args->config.stages == 0) /* shared memory does not hold a stage */
        return chunk_state_plain_backward(args, stream);
    if (error == cudaSuccess)
        error = backward_space(&behind, 1, 1, chunk_state_low_rank, stream, &space);
    const auto kernel = kernels[args->dtype][plan.padded != 4][size];
    const size_t shared = plan.stages * (size_t)plan.stage_bytes;
    if (error == cudaSuccess)
        error = gpu_allow_shared((const void *)kernel, shared, 0);
    if (error != cudaSuccess)
        return error;
    const cudaLaunchConfig_t launch = launch_of(plan.blocks, LOW_RANK_BACK_THREADS, shared, stream);
    error = cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, space.states, args->gamma, args->W, args->Y,
                               args->d_h_out, args->d_final_state, args->d_h_local, args->d_initial_state,
                               low_rank_counts(args), (float *)args->workspace);
    return error == cudaSuccess ? low_rank_add_slices(args, (const float *)args->workspace, plan.slices, stream)
                                : error;
}
