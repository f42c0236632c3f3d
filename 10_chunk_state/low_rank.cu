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

/* t -= W p with p = Y^T h, for some ranks, 4 or 8. first: where they stand in the thread's first row. p: the warp's. */
template <int storage, int rows, int ranks>
static __device__ __forceinline__ void subtract(const struct stage *stage, unsigned first, unsigned stride,
                                                const float (*h)[4], float *p, float (*t)[4])
{
    const int lane = threadIdx.x % 32;
    float sum[ranks * 4] = {}, four[4], of_p[ranks][4];
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) { /* four ranks of a row */
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<storage>(stage->y, first + i * PARTS * stride + r, four);
#pragma unroll
        for (int c = 0; c < 4; c++)
            sum[r * 4 + c] += four[r % 4] * h[i][c];
    }
#pragma unroll
    for (int d = PARTS / 2; d > 0; d /= 2) /* a lane gives one half of the sums that it has left to its partner */
#pragma unroll
        for (int v = 0; v < ranks * 2; v++) {
            if (v >= d * ranks / 4)
                continue;
            const bool upper = lane & 2 * d;
            const int other = v + d * ranks / 4;
            const float given = upper ? sum[v] : sum[other], kept = upper ? sum[other] : sum[v];
            sum[v] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, 2 * d);
        }
#pragma unroll
    for (int v = 0; v < ranks / 4; v++) { /* the sums are numbered rank * 4 + column */
        const int number = lane / 2 * (ranks / 4) + v;
        p[number / 4 * 8 + lane % 2 * 4 + number % 4] = sum[v];
    }
    __syncwarp();
#pragma unroll
    for (int v = 0; v < rows * ranks; v++) {
        const int i = v / ranks, r = v % ranks;
        if (r % 4 == 0)
            read4<storage>(stage->w, first + i * PARTS * stride + r, four);
        if (i == 0)
            read4<FLOAT32>(p, r * 8 + lane % 2 * 4, of_p[r]);
#pragma unroll
        for (int c = 0; c < 4; c++)
            t[i][c] -= four[r % 4] * of_p[r][c];
    }
}

template <int storage, int rows>
static __global__ void __launch_bounds__(2 * LOW_RANK_THREADS, 1)
    low_rank_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ __align__(16) float sums[LOW_RANK_THREADS / 32][2][8 * 8]; /* p of a warp, now and the last time */
    const struct place place = place_of(&shape);
    stages_clear(&shape, memory);
    if (threadIdx.x >= LOW_RANK_THREADS) {
        copy_chunks<storage>(&shape, place, memory, h_local, gamma, W, Y);
        return;
    }
    const int warp = threadIdx.x / 32, part = threadIdx.x % 32 / 2, column = warp * 8 + threadIdx.x % 2 * 4;
    const size_t start = place.start + column, step = PARTS * shape.dv;
    const bool fours = shape.dv % 4 == 0;
    const int columns = start < shape.dv ? (int)min(shape.dv - start, (size_t)4) : 0, every = shape.decays != 1;
    const int left = columns != 0 ? shape.dk - part : 0, first = part * shape.stride; /* rows from its first one on */
    const size_t state = (place.head * shape.dk + part) * shape.dv + start;
    size_t at = (place.zero * shape.dk + part) * shape.dv + start; /* the thread's first element of the chunk */
    float h[rows][4], t[rows][4];
#pragma unroll
    for (int v = 0; v < rows * 4; v++)
        h[v / 4][v % 4] = initial_state != NULL && v / 4 * PARTS < left && v % 4 < columns
                              ? initial_state[state + v / 4 * step + v % 4]
                              : 0.0f;
    for (size_t k = 0, here = 0; k < shape.chunks; k++, at += shape.heads * shape.dk * shape.dv) {
        const struct stage stage = stage_of(&shape, memory, here);
        here = here + 1 == (size_t)shape.stages ? 0 : here + 1;
        meet(&shape);
#pragma unroll
        for (int v = 0; v < rows * 4; v++)
            t[v / 4][v % 4] = h[v / 4][v % 4];
        int r = 0;
        for (; r + 8 <= shape.padded; r += 8)
            subtract<storage, rows, 8>(&stage, first + r, shape.stride, h, sums[warp][r / 8 % 2], t);
        if (r < shape.padded)
            subtract<storage, rows, 4>(&stage, first + r, shape.stride, h, sums[warp][r / 8 % 2], t);
#pragma unroll
        for (int i = 0; i < rows; i++) {
            const float g = stage.gamma[(i * PARTS + part) * every];
            float x[4], out[4];
            read4<storage>(stage.x, (i * PARTS + part) * X_STRIDE + column, x);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const float before = h[i][c];
                h[i][c] = g * t[i][c] + x[c];
                out[c] = exclusive ? before : h[i][c];
            }
            if (i * PARTS < left)
                write_row<storage>(h_out, at + i * step, columns, fours, out);
        }
    }
#pragma unroll
    for (int i = 0; i < rows; i++)
        if (final_state != NULL && i * PARTS < left)
            write_row<FLOAT32>(final_state, state + i * step, columns, fours, h[i]);
}

extern "C" cudaError_t chunk_state_low_rank(const struct chunk_state_args *args, cudaStream_t stream)
{
    static const decltype(&low_rank_forward<FLOAT32, 4>) kernels[NUM_STORAGES][3] = {
        {low_rank_forward<FLOAT32, 4>, low_rank_forward<FLOAT32, 8>, low_rank_forward<FLOAT32, 16>},
        {low_rank_forward<BF16, 4>, low_rank_forward<BF16, 8>, low_rank_forward<BF16, 16>},
        {low_rank_forward<FP16, 4>, low_rank_forward<FP16, 8>, low_rank_forward<FP16, 16>}};
    const int size = args->dk <= 4 * PARTS ? 0 : args->dk <= 8 * PARTS ? 1 : 2; /* 4, 8 or 16 rows a thread */
    struct low_rank_shape shape;
    bool done;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (!done)
        error = low_rank_shape_of(args, (size_t)(4 << size) * PARTS, &shape);
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
