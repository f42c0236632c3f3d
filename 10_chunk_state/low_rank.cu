/* low_rank.cu - A with W and Y. A block has 32 columns of a head's state in registers and goes through the chunks:

       p = Y^T h                  a sum over rows: over the thread's, then over the 16 lanes that have the others
       h = gamma (h - W p) + x    each thread its rows

   Columns know nothing of each other. So a warp has 4 of them with all their rows, and waits for no other warp between
   the two products. A thread has two columns of every 16th row:

       warp        0                 1        ...      For 4 or 8 ranks and 2 columns a thread has parts of p. In four
       columns     0, 1     2, 3     4, 5     ...      steps of shuffles each of 16 lanes gets one of these sums, and
       row 0       lane 0   lane 1   lane 0   ...      tells the others by shared memory. Warps 8 to 13 copy, as many
       row 1       lane 2   lane 3   lane 2   ...      chunks ahead as there are stages, and store the results, which
       ...                                             take the place of h_local: so the way from chunk to chunk holds
       row 16      lane 0   lane 1   lane 0   ...      nothing but the products.                                   */
#include <cuda_runtime.h>

#include "low_rank_copy.cuh"

template <int storage, int rows, int ranks>
static __global__ void __launch_bounds__(LOW_RANK_COMPUTING + LOW_RANK_COPYING, 1)
    low_rank_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const struct place place = place_of(&shape);
    const int done = done_barrier(&shape), threads = LOW_RANK_COMPUTING + LOW_RANK_COPYING;
    stages_clear(&shape, memory);
    if (threadIdx.x >= LOW_RANK_COMPUTING) {
        copy_chunks<storage, false>(&shape, place, memory, threadIdx.x - LOW_RANK_COMPUTING, h_local, NULL, gamma, W, Y,
                                    h_out, done, threads);
        return;
    }
    const int bytes = (int)stored_bytes(storage), padded = ranks == 4 ? 4 : keep(shape.padded);
    const struct own own = own_of<storage>(&shape);
    const bool before = keep(exclusive);
    float h[rows][2], x[rows][2];
    state_read<rows>(&shape, place, own, initial_state, h);
    struct ring ring = ring_of(&shape, memory);
    for (size_t k = 0; k < shape.chunks; k++, ring_next(&ring)) {
        char *const here = ring.stage;
        named_barrier_sync(THERE + ring.which, threads);
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            project<storage, rows, ranks>(here + own.y + r * bytes, own.rows, h, here + own.p + r * SIDE * 8);
        take<storage, rows>(here + own.x, x);
        if (before)
            leave<storage, rows>(here + own.x, h);
        __syncwarp(); /* all lanes' sums are there */
#pragma unroll 1
        for (int r = 0; r < padded; r += ranks)
            subtract<storage, rows, ranks>(here + own.w + r * bytes, own.rows, here + own.p + r * SIDE * 8, h);
#pragma unroll
        for (int v = 0; v < rows * 2; v++)
            h[v / 2][v % 2] =
                *(const float *)(here + own.gamma + v / 2 * own.decays) * h[v / 2][v % 2] + x[v / 2][v % 2];
        if (!before)
            leave<storage, rows>(here + own.x, h);
        named_barrier_arrive(done + ring.which, threads);
    }
    state_write<rows>(&shape, place, own, final_state, h);
}

extern "C" cudaError_t chunk_state_low_rank(const struct chunk_state_args *args, cudaStream_t stream)
{
    /* up to 64, 128 or 256 rows; 4 ranks, or 8 at a time */
#define OF_RANKS(storage, ranks)                                                                                       \
    {                                                                                                                  \
        low_rank_forward<storage, 64 / PARTS, ranks>, low_rank_forward<storage, 128 / PARTS, ranks>,                   \
            low_rank_forward<storage, 256 / PARTS, ranks>                                                              \
    }
    static const decltype(&low_rank_forward<FLOAT32, 64 / PARTS, 4>) kernels[NUM_STORAGES][2][3] = {
        {OF_RANKS(FLOAT32, 4), OF_RANKS(FLOAT32, 8)},
        {OF_RANKS(BF16, 4), OF_RANKS(BF16, 8)},
        {OF_RANKS(FP16, 4), OF_RANKS(FP16, 8)}};
    struct low_rank_shape shape;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = low_rank_shape_of(args, false, &shape);
    if (done || error != cudaSuccess)
        return error;
    const auto kernel = kernels[args->storage][shape.padded != 4][shape.rows / 128];
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess || shape.stages == 0)
        return error != cudaSuccess ? error : cudaErrorNotSupported;
    kernel<<<shape.blocks, LOW_RANK_COMPUTING + LOW_RANK_COPYING, shape.stages *(size_t)shape.at.end, stream>>>(
        shape, args->exclusive, args->h_local, args->gamma, args->W, args->Y, args->initial_state, args->h_out,
        args->final_state);
    return cudaGetLastError();
}
