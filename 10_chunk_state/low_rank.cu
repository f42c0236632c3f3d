/* low_rank.cu - A with W and Y. A block has 32 columns of a head's state in registers and goes through the chunks:

       p = Y^T h                  a sum over rows: over the thread's, then over the 8 lanes that have the others
       h = gamma (h - W p) + x    each thread its rows

   Columns know nothing of each other. So a warp has 8 of them with all their rows, and waits for no other warp between
   the two products. A thread has two columns of every 8th row:

       warp        0                     1        ...      For 4 or 8 ranks and 2 columns a thread has parts of p. In
       columns     0, 1   2, 3   ...     8, 9     ...      three steps of shuffles each of 8 lanes gets one or two of
       row 0       lane 0 lane 1 ...                       these sums, and tells the others by shared memory. Warps 4
       row 1       lane 4 ...                              to 7 copy, as many chunks ahead as there are stages, and
       ...                                                 store the results, which take the place of h_local: so the
       row 8       lane 0 ...                              way from chunk to chunk holds nothing but the products, and
                                                           one barrier.                                           */
#include <cuda_runtime.h>

#include "low_rank.cuh"

/* p = Y^T h for some ranks, 4 or 8. y: the first of them in the thread's first row, its next one is `step` bytes
   further. p: where the thread's sums go. */
template <int storage, int rows, int ranks>
static __device__ __forceinline__ void project(const char *y, unsigned step, const float (*h)[2], float *p)
{
    const int lane = threadIdx.x % 32;
    float sum[ranks * 2] = {}, four[4];
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) { /* four ranks of a row */
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<storage>(y + i * step, r, four);
        sum[r * 2] += four[r % 4] * h[i][0];
        sum[r * 2 + 1] += four[r % 4] * h[i][1];
    }
#pragma unroll
    for (int d = PARTS / 2; d > 0; d /= 2) /* a lane gives one half of the sums that it has left to its partner */
#pragma unroll
        for (int v = 0; v < ranks; v++) {
            if (v >= d * ranks / 4)
                continue;
            const bool upper = lane & 4 * d;
            const int other = v + d * ranks / 4;
            const float given = upper ? sum[v] : sum[other], kept = upper ? sum[other] : sum[v];
            sum[v] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, 4 * d);
        }
    if (ranks == 4)
        p[0] = sum[0];
    else
        write2<FLOAT32>(p, 0, sum);
}

template <int storage, int rows>
static __global__ void __launch_bounds__(2 * LOW_RANK_THREADS, 1)
    low_rank_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const struct place place = place_of(&shape);
    stages_clear(&shape, memory);
    if (threadIdx.x >= LOW_RANK_THREADS) {
        copy_chunks<storage>(&shape, place, memory, h_local, gamma, W, Y, h_out);
        return;
    }
    const int bytes = (int)stored_bytes(storage), lane = threadIdx.x % 32, part = lane / 4;
    const int column = threadIdx.x / 32 * 8 + lane % 4 * 2;
    const size_t state = (place.head * shape.dk + part) * shape.dv + place.start + column, step = PARTS * shape.dv;
    const struct stage in = stage_of(&shape); /* here what the thread has in a stage */
    const unsigned own_x = keep((part * X_STRIDE + column) * bytes), own_w = keep(in.w + part * shape.stride * bytes);
    const unsigned own_y = keep(in.y + part * shape.stride * bytes), w_step = keep(PARTS * shape.stride * bytes);
    const unsigned every = keep(shape.decays == 1 ? 0 : 4), own_gamma = keep(in.gamma + part * every);
    const unsigned of_p = keep(in.p + (threadIdx.x / 32 * shape.padded * 8 + lane % 4 * 2) * 4);
    const unsigned sum4 = part / 2 * 32 + part % 2 * 4, sum8 = part * 32; /* which of the sums it finds */
    const int padded = keep(shape.padded);
    const bool before = keep(exclusive);
    float h[rows][2], x[rows][2], g[rows];
#pragma unroll
    for (int v = 0; v < rows * 2; v++)
        h[v / 2][v % 2] = initial_state != NULL && is_there(&shape, place, v / 2 * PARTS + part, column + v % 2)
                              ? initial_state[state + v / 2 * step + v % 2]
                              : 0.0f;
    struct ring ring = ring_of(&shape, memory);
    for (size_t k = 0; k < shape.chunks; k++, ring_next(&ring)) {
        char *const here = ring.stage;
        float *const p = (float *)(here + of_p);
        meet(&ring);
        int r = 0;
        for (; r + 8 <= padded; r += 8)
            project<storage, rows, 8>(here + own_y + r * bytes, w_step, h, p + r * 8 + sum8 / 4);
        if (r < padded)
            project<storage, rows, 4>(here + own_y + r * bytes, w_step, h, p + r * 8 + sum4 / 4);
#pragma unroll
        for (int i = 0; i < rows; i++) {
            read2<storage>(here + own_x, i * PARTS * X_STRIDE, x[i]);
            g[i] = *(const float *)(here + own_gamma + i * PARTS * every);
        }
        if (before)
            leave<storage, rows>(here + own_x, h);
        __syncwarp();
        for (r = 0; r + 8 <= padded; r += 8)
            subtract<storage, rows, 8>(here + own_w + r * bytes, w_step, p + r * 8, h);
        if (r < padded)
            subtract<storage, rows, 4>(here + own_w + r * bytes, w_step, p + r * 8, h);
#pragma unroll
        for (int v = 0; v < rows * 2; v++)
            h[v / 2][v % 2] = g[v / 2] * h[v / 2][v % 2] + x[v / 2][v % 2];
        if (!before)
            leave<storage, rows>(here + own_x, h);
    }
    meet_last();
#pragma unroll
    for (int v = 0; v < rows * 2; v++)
        if (final_state != NULL && is_there(&shape, place, v / 2 * PARTS + part, column + v % 2))
            final_state[state + v / 2 * step + v % 2] = h[v / 2][v % 2];
}

extern "C" cudaError_t chunk_state_low_rank(const struct chunk_state_args *args, cudaStream_t stream)
{
    static const decltype(&low_rank_forward<FLOAT32, 8>) kernels[NUM_STORAGES][3] = {
        {low_rank_forward<FLOAT32, 8>, low_rank_forward<FLOAT32, 16>, low_rank_forward<FLOAT32, 32>},
        {low_rank_forward<BF16, 8>, low_rank_forward<BF16, 16>, low_rank_forward<BF16, 32>},
        {low_rank_forward<FP16, 8>, low_rank_forward<FP16, 16>, low_rank_forward<FP16, 32>}};
    const int size = args->dk <= 8 * PARTS ? 0 : args->dk <= 16 * PARTS ? 1 : 2; /* 8, 16 or 32 rows a thread */
    struct low_rank_shape shape;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = low_rank_shape_of(args, (size_t)(8 << size) * PARTS, 4, 1, &shape);
    if (done || error != cudaSuccess)
        return error;
    const auto kernel = kernels[args->storage][size];
    error = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess || shape.stages == 0)
        return error != cudaSuccess ? error : cudaErrorNotSupported;
    kernel<<<shape.blocks, 2 * LOW_RANK_THREADS, shape.stages *(size_t)shape.stage_bytes, stream>>>(
        shape, args->exclusive, args->h_local, args->gamma, args->W, args->Y, args->initial_state, args->h_out,
        args->final_state);
    return cudaGetLastError();
}
