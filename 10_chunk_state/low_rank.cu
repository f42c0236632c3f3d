/* low_rank.cu - A with W and Y. A block has 32 columns of a head's state in registers and goes through the chunks:

       p = Y^T h                  a sum over rows: over the thread's, then over the 16 lanes that have the others
       h = gamma (h - W p) + x    each thread its rows

   Columns know nothing of each other. So a warp has 8 of them with all their rows, and waits for no other warp between
   the two products. A thread has four columns of every 16th row:

       warp        0              1       ...            What it reads of Y and W it uses for four columns. For
       columns     0...3 4...7    8...11 ...             4 or 8 ranks and 4 columns it has parts of p. In four
       row 0       lane 0 lane 1                         steps of shuffles each of 16 lanes gets one or two of
       ...                                               these sums, and tells the others by shared memory.
       row 16      lane 0 ...                            Warps 4 to 7 copy, as many chunks ahead as there are
       ...                                               stages: so the way from chunk to chunk holds nothing but
                                                         the products, and one barrier.                        */
#include <cuda_runtime.h>

#include "low_rank.cuh"

/* p = Y^T h for some ranks, 4 or 8. first: where they stand in the thread's first row. p: the warp's. */
template <int storage, int rows, int ranks>
static __device__ __forceinline__ void project(const char *y, unsigned first, unsigned stride, const float (*h)[2],
                                               float *p)
{
    const int lane = threadIdx.x % 32;
    float sum[ranks * 2] = {}, four[4];
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) { /* four ranks of a row */
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<storage>(y, first + i * PARTS * stride + r, four);
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
#pragma unroll
    for (int v = 0; v < ranks / 4; v++) { /* the sums are numbered rank * 2 + column */
        const int number = lane / 4 * (ranks / 4) + v;
        p[number / 2 * 8 + lane % 4 * 2 + number % 2] = sum[v];
    }
}

/* h -= W p for these ranks. */
template <int storage, int rows, int ranks>
static __device__ __forceinline__ void subtract(const char *w, unsigned first, unsigned stride, const float *p,
                                                float (*h)[2])
{
    float of_p[ranks][2], four[4];
#pragma unroll
    for (int r = 0; r < ranks; r++)
        read2<FLOAT32>(p, r * 8 + threadIdx.x % 4 * 2, of_p[r]);
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) {
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<storage>(w, first + i * PARTS * stride + r, four);
        h[i][0] -= four[r % 4] * of_p[r][0];
        h[i][1] -= four[r % 4] * of_p[r][1];
    }
}

/* The thread's rows of h take the place of those of h_local. */
template <int storage, int rows>
static __device__ __forceinline__ void leave(char *x, unsigned own, const float (*h)[2])
{
#pragma unroll
    for (int i = 0; i < rows; i++)
        write2<storage>(x, own + i * PARTS * X_STRIDE, h[i]);
}

template <int storage, int rows>
static __global__ void __launch_bounds__(2 * LOW_RANK_THREADS, 1)
    low_rank_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ __align__(16) float sums[LOW_RANK_THREADS / 32][CHUNK_STATE_MAX_RANK * 8]; /* p of a warp */
    const struct place place = place_of(&shape);
    stages_clear(&shape, memory);
    if (threadIdx.x >= LOW_RANK_THREADS) {
        copy_chunks<storage>(&shape, place, memory, h_local, gamma, W, Y, h_out);
        return;
    }
    const int warp = threadIdx.x / 32, part = threadIdx.x % 32 / 4, column = warp * 8 + threadIdx.x % 4 * 2;
    const int first = part * shape.stride, own = part * X_STRIDE + column, every = shape.decays != 1;
    const size_t state = (place.head * shape.dk + part) * shape.dv + place.start + column, step = PARTS * shape.dv;
    float *const p = sums[warp];
    float h[rows][2], x[rows][2], g[rows];
#pragma unroll
    for (int v = 0; v < rows * 2; v++)
        h[v / 2][v % 2] = initial_state != NULL && is_there(&shape, place, v / 2 * PARTS + part, column + v % 2)
                              ? initial_state[state + v / 2 * step + v % 2]
                              : 0.0f;
    char *here = memory;
    for (size_t k = 0; k < shape.chunks; k++, here = stage_next(&shape, memory, here)) {
        const struct stage stage = stage_of(&shape, here);
        meet(&shape);
#pragma unroll
        for (int i = 0; i < rows; i++) {
            read2<storage>(stage.x, own + i * PARTS * X_STRIDE, x[i]);
            g[i] = stage.gamma[(part + i * PARTS) * every];
        }
        int r = 0;
        for (; r + 8 <= shape.padded; r += 8)
            project<storage, rows, 8>(stage.y, first + r, shape.stride, h, p + r * 8);
        if (r < shape.padded)
            project<storage, rows, 4>(stage.y, first + r, shape.stride, h, p + r * 8);
        if (exclusive)
            leave<storage, rows>(stage.x, own, h);
        __syncwarp();
        for (r = 0; r + 8 <= shape.padded; r += 8)
            subtract<storage, rows, 8>(stage.w, first + r, shape.stride, p + r * 8, h);
        if (r < shape.padded)
            subtract<storage, rows, 4>(stage.w, first + r, shape.stride, p + r * 8, h);
#pragma unroll
        for (int v = 0; v < rows * 2; v++)
            h[v / 2][v % 2] = g[v / 2] * h[v / 2][v % 2] + x[v / 2][v % 2];
        if (!exclusive)
            leave<storage, rows>(stage.x, own, h);
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
        error = low_rank_shape_of(args, (size_t)(8 << size) * PARTS, 4, &shape);
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
