/* low_rank_backward.cu - the gradients with W and Y, from the last chunk to the first: low_rank.cu with d_h in the
   registers and W and Y in each other's place. With the state h before the chunk, which the caller has kept or forward
   computes once more,

       p = Y^T h,  q = W^T e,  e = gamma d_h      sums over rows: by the warps that compute
       d_h = e - Y q                              for the chunk before
       S = d_h p',  d_W = -gamma S,  d_Y = -h q'  sums over columns: by two more warps, from what those leave in the stage
       d_gamma = sum of d_h (h - W p) = sum of d_h h - sum over ranks of W S

       copying    | chunk 9 | chunk 8 | chunk 7 ...
       computing            | chunk 9 | chunk 8 | chunk 7 ...
       summing                        | chunk 9 | chunk 8 | chunk 7 ...

   The sums of several blocks of one head go to the workspace, and a second launch adds them up. No atomics, so always
   the same bits. */
#include <cuda_runtime.h>

#include "low_rank_copy.cuh"
#include "low_rank_sums.cuh"

template <int storage, int rows, int ranks>
static __global__ void __launch_bounds__(LOW_RANK_COMPUTING + LOW_RANK_SUMMING + LOW_RANK_COPYING, 1)
    low_rank_backward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ states,
                      const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                      const void *__restrict__ d_h_out, const float *__restrict__ d_final_state,
                      void *__restrict__ d_h_local, float *__restrict__ d_initial_state, struct part_counts counts,
                      float *__restrict__ parts)
{
    extern __shared__ __align__(16) char memory[];
    const struct place place = place_of(&shape);
    const int done = done_barrier(&shape);
    stages_clear(&shape, memory);
    if (threadIdx.x >= LOW_RANK_COMPUTING + LOW_RANK_SUMMING) {
        copy_chunks<storage, true>(&shape, place, memory, threadIdx.x - LOW_RANK_COMPUTING - LOW_RANK_SUMMING, d_h_out,
                                   states, gamma, W, Y, d_h_local, summed_barrier(&shape),
                                   LOW_RANK_SUMMING + LOW_RANK_COPYING);
        return;
    }
    if (threadIdx.x >= LOW_RANK_COMPUTING) {
        sum_chunks<storage>(&shape, place, memory, counts, parts);
        return;
    }
    const int bytes = (int)stored_bytes(storage), padded = ranks == 4 ? 4 : keep(shape.padded);
    const struct own own = own_of<storage>(&shape);
    const bool behind = keep(exclusive);
    float d[rows][2], h[rows][2];
    state_read<rows>(&shape, place, own, d_final_state, d);
    struct ring ring = ring_of(&shape, memory);
    for (size_t k = shape.chunks; k > 0; k--, ring_next(&ring)) {
        char *const here = ring.stage;
        named_barrier_sync(THERE + ring.which, LOW_RANK_COMPUTING + LOW_RANK_COPYING);
        take<storage, rows>(here + own.states, h);
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            project<storage, rows, ranks>(here + own.y + r * bytes, own.rows, h, here + own.p + r * SIDE * 8);
        take<storage, rows>(here + own.x, h);
#pragma unroll
        for (int v = 0; v < rows * 2; v++)
            d[v / 2][v % 2] += behind ? 0.0f : h[v / 2][v % 2];
        leave<storage, rows>(here + own.x, d);
        if (storage != FLOAT32) /* the sums take it as it is */
            leave<FLOAT32, rows>(here + own.d, d);
#pragma unroll
        for (int v = 0; v < rows * 2; v++)
            d[v / 2][v % 2] *= *(const float *)(here + own.gamma + v / 2 * own.decays);
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            project<storage, rows, ranks>(here + own.w + r * bytes, own.rows, d, here + own.q + r * SIDE * 8);
        __syncwarp(); /* all lanes' sums are there */
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            subtract<storage, rows, ranks>(here + own.y + r * bytes, own.rows, here + own.q + r * SIDE * 8, d);
#pragma unroll
        for (int v = 0; v < rows * 2; v++)
            d[v / 2][v % 2] += behind ? h[v / 2][v % 2] : 0.0f;
        named_barrier_arrive(done + ring.which, LOW_RANK_COMPUTING + LOW_RANK_SUMMING);
    }
    state_write<rows>(&shape, place, own, d_initial_state, d);
}

extern "C" cudaError_t chunk_state_low_rank_backward(const struct chunk_state_args *args, cudaStream_t stream)
{
    /* up to 64, 128 or 256 rows; 4 ranks, or 8 at a time */
#define OF_RANKS(storage, ranks)                                                                                       \
    {                                                                                                                  \
        low_rank_backward<storage, 64 / PARTS, ranks>, low_rank_backward<storage, 128 / PARTS, ranks>,                 \
            low_rank_backward<storage, 256 / PARTS, ranks>                                                             \
    }
    static const decltype(&low_rank_backward<FLOAT32, 64 / PARTS, 4>) kernels[NUM_STORAGES][2][3] = {
        {OF_RANKS(FLOAT32, 4), OF_RANKS(FLOAT32, 8)},
        {OF_RANKS(BF16, 4), OF_RANKS(BF16, 8)},
        {OF_RANKS(FP16, 4), OF_RANKS(FP16, 8)}};
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
    error = low_rank_shape_of(args, true, &shape);
    if (error == cudaSuccess && shape.stages == 0)
        error = cudaErrorNotSupported;
    if (error == cudaSuccess)
        error = backward_space(&behind, 1, chunk_state_low_rank, stream, &space);
    if (error != cudaSuccess)
        return error;
    const auto kernel = kernels[args->storage][shape.padded != 4][shape.rows / 128];
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, LOW_RANK_COMPUTING + LOW_RANK_SUMMING + LOW_RANK_COPYING, shape.stages *(size_t)shape.at.end,
             stream>>>(shape, args->exclusive, space.states, args->gamma, args->W, args->Y, args->d_h_out,
                       args->d_final_state, args->d_h_local, args->d_initial_state, low_rank_counts(args),
                       (float *)args->workspace);
    error = cudaGetLastError();
    return error == cudaSuccess ? low_rank_add_slices(args, (const float *)args->workspace, shape.slices, stream)
                                : error;
}
