/* low_rank_backward.cu - the gradients with W and Y, from the last chunk to the first, with d_h in the registers. With
   the state h before the chunk, which the caller has kept or forward computes once more,

       p = Y^T h         t = h - W p         d_gamma = sum of d_h t over columns
       e = gamma d_h     q = W^T e           d_W = -e p', d_Y = -h q': sums over columns, too
       d_h = e - Y q                         for the chunk before

   The sums over a block's columns are taken by the lanes of a warp among themselves; those of several blocks of one
   head go to the workspace, and a second launch adds them up. No atomics, so always the same bits. */
#include <cuda_runtime.h>

#include "chunk_state.h"
#include "low_rank_backward.cuh"

/* Block (batch * heads + head) * slices + slice. */
template <int storage, int rows>
static __global__ void __launch_bounds__(rows == 8 ? 512 : 256, 1)
    low_rank_backward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ states,
                      const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                      const void *__restrict__ d_h_out, const float *__restrict__ d_final_state,
                      void *__restrict__ d_h_local, float *__restrict__ d_initial_state, struct part_counts counts,
                      float *__restrict__ all_parts)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ float warps[LOW_RANK_MAX_THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32, first = warp * rows;
    const unsigned dv = (unsigned)shape.dv;
    const size_t head = blockIdx.x / shape.slices, batch = head / shape.heads, slice = blockIdx.x % shape.slices;
    const size_t column = slice * COLUMNS + lane, zero = batch * shape.chunks * shape.heads + head % shape.heads;
    char *const w = memory, *const y = w + shape.w_bytes;
    float *const parts = (float *)(y + shape.w_bytes), *const p = parts + 2 * num_warps * RANKS * COLUMNS;
    float *const q = p + shape.padded * COLUMNS, *const mine = all_parts + slice * (counts.decays + 2 * counts.ranks);
    const int left = min(shape.dk - first, rows), own = column < shape.dv ? left : 0; /* rows of the warp, the thread */
    const unsigned bytes = (unsigned)stored_bytes(storage), rank_bytes = shape.rank * bytes;
    const struct spread spread = spread_of(threadIdx.x, blockDim.x, rank_bytes, shape.w_unit);
    float d[rows], h[rows], t[rows];

#pragma unroll
    for (int i = 0; i < rows; i++)
        d[i] =
            d_final_state != NULL && i < own ? d_final_state[(head * shape.dk + first + i) * shape.dv + column] : 0.0f;
    for (unsigned i = threadIdx.x; i < 2 * shape.w_bytes / 4; i += blockDim.x)
        ((float *)memory)[i] = 0.0f; /* what no copy fills stays so */
    for (size_t k = shape.chunks; k-- > 0;) {
        const size_t row = zero + k * shape.heads, at = (row * shape.dk + first) * shape.dv + column;
        const size_t ranks = row * shape.dk * shape.rank;
        __syncthreads(); /* all have left the chunk before */
        copy_rows(spread, w, (const char *)W + ranks * bytes, shape.dk, shape.stride * bytes, rank_bytes);
        copy_rows(spread, y, (const char *)Y + ranks * bytes, shape.dk, shape.stride * bytes, rank_bytes);
        __pipeline_commit();
#pragma unroll
        for (int i = 0; i < rows; i++) {
            t[i] = h[i] = i < own ? read1<storage>(states, at + i * dv) : 0.0f;
            if (!exclusive && i < own)
                d[i] += read1<storage>(d_h_out, at + i * dv);
            if (i < own)
                write1<storage>(d_h_local, at + i * dv, d[i]);
        }
        __pipeline_wait_prior(0);
        __syncthreads(); /* W and Y are there for all */
        if (shape.rank != 0) {
            project<storage, rows>(y, shape.stride, shape.padded, h, parts, p);
            subtract<storage, rows>(w, shape.stride, shape.padded, p, t);
        }
        float sum = 0.0f; /* d_gamma: of each row, or of all */
#pragma unroll
        for (int i = 0; i < rows; i++) {
            float product = d[i] * t[i];
            d[i] *= i < left ? gamma[row * shape.decays + (shape.decays == 1 ? 0 : first + i)] : 0.0f;
            if (shape.decays == 1) {
                sum += product;
                continue;
            }
            for (int apart = 16; apart > 0; apart /= 2)
                product += __shfl_xor_sync(0xFFFFFFFFu, product, apart);
            if (lane == 0 && i < left)
                mine[row * shape.decays + first + i] = product;
        }
        for (int apart = 16; apart > 0; apart /= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, apart);
        if (lane == 0)
            warps[warp] = sum;
        __syncthreads();
        for (int i = 1; i < num_warps && threadIdx.x == 0; i++)
            sum += warps[i];
        if (shape.decays == 1 && threadIdx.x == 0)
            mine[row] = sum;
        if (shape.rank != 0) {
            float *const to = mine + counts.decays + ranks + first * shape.rank;
            outer<rows>(d, p, shape.padded, shape.rank, left, to);
            project<storage, rows>(w, shape.stride, shape.padded, d, parts, q);
            outer<rows>(h, q, shape.padded, shape.rank, left, to + counts.ranks);
            subtract<storage, rows>(y, shape.stride, shape.padded, q, d);
        }
#pragma unroll
        for (int i = 0; i < rows; i++)
            if (exclusive && i < own)
                d[i] += read1<storage>(d_h_out, at + i * dv);
    }
#pragma unroll
    for (int i = 0; i < rows; i++)
        if (d_initial_state != NULL && i < own)
            d_initial_state[(head * shape.dk + first + i) * shape.dv + column] = d[i];
}

extern "C" cudaError_t chunk_state_low_rank_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    const bool tall = args->dk > 8 * LOW_RANK_MAX_THREADS / 32;
    void (*const kernel)(struct low_rank_shape, bool, const void *, const float *, const void *, const void *,
                         const void *, const float *, void *, float *, struct part_counts, float *) =
        args->storage == FLOAT32 ? (tall ? low_rank_backward<FLOAT32, 32> : low_rank_backward<FLOAT32, 8>)
        : args->storage == BF16  ? (tall ? low_rank_backward<BF16, 32> : low_rank_backward<BF16, 8>)
                                 : (tall ? low_rank_backward<FP16, 32> : low_rank_backward<FP16, 8>);
    struct low_rank_shape shape;
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
    const size_t rows = tall ? 32 : 8, warps = (args->dk + rows - 1) / rows;
    error = low_rank_shape_of(args, warps * rows, &shape);
    if (error == cudaSuccess)
        error = backward_space(&behind, 1, chunk_state_low_rank, stream, &space);
    const size_t shared = 2 * shape.w_bytes + (2 * warps * RANKS + 2 * shape.padded) * COLUMNS * sizeof(float);
    if (error == cudaSuccess && shared > shape.limit)
        error = cudaErrorNotSupported;
    if (error == cudaSuccess)
        error =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, (unsigned)warps * 32, shared, stream>>>(
        shape, args->exclusive, space.states, args->gamma, args->W, args->Y, args->d_h_out, args->d_final_state,
        args->d_h_local, args->d_initial_state, low_rank_counts(args), (float *)args->workspace);
    error = cudaGetLastError();
    return error == cudaSuccess ? low_rank_add_slices(args, (const float *)args->workspace, shape.slices, stream)
                                : error;
}
