/* SPDX-License-Identifier: MIT */
/* low_rank.cu - A with W and Y. A block has 32 columns of a head's state in registers and goes through the chunks:

       p = Y^T h                  a sum over rows: over the thread's, then over the 8 lanes that have the others
       h = gamma h + x - W p      each thread its rows

   Columns know nothing of each other. So a warp has 8 of them with all their rows, and waits for no other warp between
   the two products. A thread has two columns of every 8th row:

       warp        0                     1        ...      For 4 or 8 ranks and 2 columns a thread has parts of p. In
       columns     0, 1   2, 3   ...     8, 9     ...      three steps of shuffles each of 8 lanes gets one or two of
       row 0       lane 0 lane 1 ...                       these sums, and tells the others by shared memory. Warps 4
       row 1       lane 4 ...                              to 9 copy, as many chunks ahead as there are stages, and
       ...                                                 store the results, which take the place of h_local: so the
       row 8       lane 0 ...                              way from chunk to chunk holds nothing but the products, and
                                                           one barrier.                                           */
/* The simulator builds it quickly: tens of rows and ranks in registers, in unrolled loops, and 18 of each kernel. */
#include <cuda_runtime.h>

#include "../../common/cuda/launch_of.h"
#include "kernels.h"
#include "chunk_check.h"
#include "low_rank_copy.cuh"
#include "low_rank_products.cuh"

template <int dtype, int rows, int ranks>
static __global__ void __launch_bounds__(LOW_RANK_THREADS, 1)
    low_rank_forward(struct low_rank_plan plan, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const struct low_rank_block block = low_rank_block_of(&plan);
    if (!plan.full) /* else the copies need not wait for it */
        stages_clear(&plan, memory);
    if (threadIdx.x >= LOW_RANK_CONSUMERS) {
        low_rank_copy_chunks<dtype>(&plan, block, memory, h_local, gamma, W, Y, h_out);
        return;
    }
    const int bytes = (int)element_bytes(dtype), lane = threadIdx.x % 32, part = lane / COLUMN_LANES;
    const int column = threadIdx.x / 32 * COLUMN_LANES * 2 + lane % COLUMN_LANES * 2;
    const size_t state = (block.head * plan.dk + part) * plan.dv + block.start + column, step = ROW_LANES * plan.dv;
    const struct low_rank_stage in = low_rank_stage_of(&plan); /* here what the thread has in a stage */
    const unsigned own_x = opaque((part * X_STRIDE + column) * bytes),
                   own_w = opaque(in.w + part * plan.stride * bytes);
    const unsigned own_y = opaque(in.y + part * plan.stride * bytes), w_step = opaque(ROW_LANES * plan.stride * bytes);
    const unsigned own_gamma = opaque(in.gamma + part * 4);
    const unsigned of_p =
        opaque(in.p + (threadIdx.x / 32 * plan.padded * COLUMN_LANES * 2 + lane % COLUMN_LANES * 2) * 4);
    const int padded = ranks == 4 && rows * ROW_LANES < 256 ? 4 : opaque(plan.padded);
    const bool before = exclusive;
    float h[rows][2], x[rows][2];
#pragma unroll
    for (int v = 0; v < rows * 2; v++)
        h[v / 2][v % 2] = initial_state != NULL && in_bounds(&plan, block, v / 2 * ROW_LANES + part, column + v % 2)
                              ? initial_state[state + v / 2 * step + v % 2]
                              : 0.0f;
    struct stages stages = stages_of(&plan, memory);
    for (size_t k = 0; k < block.chunks; k++, stages_next(&stages)) {
        char *const here = stages.current;
        float *const p = (float *)(here + of_p);
        barrier_all<LOW_RANK_THREADS>();
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            project<dtype, rows, ranks>(here + own_y + r * bytes, w_step, h, p + r * COLUMN_LANES * 2);
#pragma unroll
        for (int i = 0; i < rows; i++)
            read2<dtype>(here + own_x, i * ROW_LANES * X_STRIDE, x[i]);
        if (before)
            store_rows<dtype, rows>(here + own_x, h);
        __syncwarp();
#pragma unroll
        for (int v = 0; v < rows * 2; v++)
            h[v / 2][v % 2] =
                ((const float *)(here + own_gamma))[v / 2 * ROW_LANES] * h[v / 2][v % 2] + x[v / 2][v % 2];
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            subtract<dtype, rows, ranks>(here + own_w + r * bytes, w_step, p + r * COLUMN_LANES * 2, h);
        if (!before)
            store_rows<dtype, rows>(here + own_x, h);
        if (stages.count == 1)
            barrier_all<LOW_RANK_THREADS>(); /* it may be stored, and the next one asked for */
    }
    if (stages.count != 1)
        barrier_all<LOW_RANK_THREADS>();
#pragma unroll
    for (int v = 0; v < rows * 2; v++)
        if (final_state != NULL && in_bounds(&plan, block, v / 2 * ROW_LANES + part, column + v % 2))
            final_state[state + v / 2 * step + v % 2] = h[v / 2][v % 2];
}

extern "C" cudaError_t chunk_state_low_rank(const struct chunk_state_args *args, cudaStream_t stream)
{
    typedef decltype(&low_rank_forward<FLOAT32, 8, 4>) kernel_of;
#define BY_ROWS(dtype, ranks)                                                                                          \
    {                                                                                                                  \
        low_rank_forward<dtype, 64 / ROW_LANES, ranks>, low_rank_forward<dtype, 128 / ROW_LANES, ranks>,               \
            low_rank_forward<dtype, 256 / ROW_LANES, 4>                                                                \
    }
    static const kernel_of kernels[NUM_DTYPES][2][3] = {{BY_ROWS(FLOAT32, 4), BY_ROWS(FLOAT32, 8)},
                                                        {BY_ROWS(BF16, 4), BY_ROWS(BF16, 8)},
                                                        {BY_ROWS(FP16, 4), BY_ROWS(FP16, 8)}};
    const int size = args->dk <= 64 ? 0 : args->dk <= 128 ? 1 : 2;
    struct low_rank_plan plan;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = low_rank_plan_of(args, NULL, (size_t)64 << size, &plan);
    if (done || error != cudaSuccess)
        return error;
    if (plan.stages == 0 && args->config.stages == 0) /* shared memory does not hold one */
        return chunk_state_plain(args, stream);
    const auto kernel = kernels[args->dtype][plan.padded != 4][size];
    const size_t shared = plan.stages * (size_t)plan.stage_bytes;
    error = gpu_allow_shared((const void *)kernel, shared, 0);
    if (error != cudaSuccess || plan.stages == 0)
        return error != cudaSuccess ? error : cudaErrorNotSupported;
    const cudaLaunchConfig_t launch = launch_of(plan.blocks, LOW_RANK_THREADS, shared, stream);
    return cudaLaunchKernelEx(&launch, kernel, plan, args->exclusive, args->h_local, args->gamma, args->W, args->Y,
                              args->initial_state, args->h_out, args->final_state);
}
