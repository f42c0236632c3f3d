/* low_rank.cu - A with W and Y. A block has 32 columns of a head's state and goes through the chunks; h_local, gamma, W
   and Y of the next ones come into stages of shared memory by cp.async, in whatever pieces they are aligned to. In each
   chunk

       p = Y^T h                  a sum over rows: over the thread's, then over the 16 lanes that have the others
       h = gamma (h - W p) + x    each thread its rows

   The columns know nothing of each other. So a warp has 8 of them with all their rows, and need not wait for another
   warp between the two products, only once a chunk for the copies. A thread has four columns of every 16th row:

       warp        0              1       ...            What it reads of Y and W it uses for four columns, and
       columns     0...3 4...7    8...11 ...             what it adds up to p is a sum of 16 lanes, for each of
       row 0       lane 0 lane 1                         4 ranks and 4 columns: in four steps of shuffles every
       row 1       lane 2 lane 3                         lane gets one of these 16 sums, and tells it the
       ...                                               others through shared memory.
       row 15      lane 30 lane 31
       row 16      lane 0 ...                                                                                     */
#include <cuda_runtime.h>

#include "low_rank.cuh"

enum { PARTS = 16 }; /* lanes that share the rows of a column */

/* Asks for a chunk of the block's head: h_local's columns, W, Y, gamma. All threads call it. */
template <int storage>
static __device__ __forceinline__ void chunk_load(const struct low_rank_shape *shape, size_t row, unsigned start,
                                                  struct spread x_spread, struct spread w_spread, char *stage,
                                                  const void *h_local, const float *gamma, const void *W, const void *Y)
{
    const unsigned bytes = (unsigned)stored_bytes(storage), rank_bytes = shape->rank * bytes;
    const size_t at = row * shape->dk;
    char *const w = stage + shape->x_bytes, *const y = w + shape->w_bytes;
    copy_rows(x_spread, stage, (const char *)h_local + (at * shape->dv + start) * bytes, shape->dk, X_STRIDE * bytes,
              shape->dv * bytes);
    copy_rows(w_spread, w, (const char *)W + at * rank_bytes, shape->dk, shape->stride * bytes, rank_bytes);
    copy_rows(w_spread, y, (const char *)Y + at * rank_bytes, shape->dk, shape->stride * bytes, rank_bytes);
    for (unsigned i = threadIdx.x; i < (unsigned)shape->decays; i += blockDim.x)
        __pipeline_memcpy_async((float *)(y + shape->w_bytes) + i, gamma + row * shape->decays + i, 4);
}

/* Lane l gets the sum of v[l / 2] over all lanes that are even, or odd, as l is: in each step a lane gives one half of
   what it has left to its partner. */
static __device__ __forceinline__ float sum_over_rows(float v[PARTS], int lane)
{
#pragma unroll
    for (int left = PARTS / 2; left > 0; left /= 2)
#pragma unroll
        for (int i = 0; i < PARTS / 2; i++) {
            if (i >= left)
                continue;
            const bool upper = lane & 2 * left;
            const float mine = upper ? v[i + left] : v[i], other = upper ? v[i] : v[i + left];
            v[i] = mine + __shfl_xor_sync(0xFFFFFFFFu, other, 2 * left);
        }
    return v[0];
}

/* t -= W p with p = Y^T h, for four ranks. y, w: where these stand in the thread's first row. p: the warp's. */
template <int storage, int rows>
static __device__ __forceinline__ void four_ranks(const void *W, const void *Y, unsigned first, unsigned stride,
                                                  const float (*h)[4], float *p, float (*t)[4])
{
    const int lane = threadIdx.x % 32;
    float sum[PARTS] = {}, factor[4];
#pragma unroll
    for (int i = 0; i < rows; i++) {
        read4<storage>(Y, first + i * PARTS * stride, factor);
#pragma unroll
        for (int v = 0; v < PARTS; v++)
            sum[v] += factor[v / 4] * h[i][v % 4];
    }
    p[lane / 8 * 8 + lane % 2 * 4 + lane / 2 % 4] = sum_over_rows(sum, lane); /* (4 ranks, 8 columns) */
    __syncwarp();
    float all[4][4];
#pragma unroll
    for (int r = 0; r < 4; r++)
        read4<FLOAT32>(p, r * 8 + lane % 2 * 4, all[r]);
#pragma unroll
    for (int i = 0; i < rows; i++) {
        read4<storage>(W, first + i * PARTS * stride, factor);
#pragma unroll
        for (int v = 0; v < PARTS; v++)
            t[i][v % 4] -= factor[v / 4] * all[v / 4][v % 4];
    }
}

/* Stores the thread's columns of a row: up to four, at once if all rows begin at a multiple of four. */
template <int storage>
static __device__ __forceinline__ void write_columns(void *array, size_t at, int columns, bool fours, const float x[4])
{
    if (fours && columns == 4)
        write4<storage>(array, at, x);
    else
#pragma unroll
        for (int c = 0; c < 4; c++)
            if (c < columns)
                write1<storage>(array, at + c, x[c]);
}

/* Block (batch * heads + head) * slices + slice. */
template <int storage, int rows>
static __global__ void __launch_bounds__(LOW_RANK_THREADS, 1)
    low_rank_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ float4 sums[LOW_RANK_THREADS / 32][2][8]; /* p of each warp: of these four ranks, and of the last */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = lane / 2, own = warp * 8 + lane % 2 * 4;
    const int stages = shape.stages, every = shape.decays == 1 ? 0 : 1;
    const size_t head = blockIdx.x / shape.slices, batch = head / shape.heads,
                 start = blockIdx.x % shape.slices * COLUMNS;
    const size_t zero =
        batch * shape.chunks * shape.heads + head % shape.heads; /* the head's row of chunk 0; heads on the next */
    const int columns = (int)min(shape.dv - min(shape.dv, start + own), (size_t)4);
    const struct spread x_spread =
        spread_of((unsigned)(min(shape.dv - start, (size_t)COLUMNS) * stored_bytes(storage)), shape.x_unit);
    const struct spread w_spread = spread_of(shape.rank * (unsigned)stored_bytes(storage), shape.w_unit);
    const bool fours = shape.dv % 4 == 0;
    float h[rows][4], t[rows][4];

#pragma unroll
    for (int v = 0; v < rows * 4; v++) {
        const int row = v / 4 * PARTS + part;
        h[v / 4][v % 4] = initial_state != NULL && row < shape.dk && v % 4 < columns
                              ? initial_state[(head * shape.dk + row) * shape.dv + start + own + v % 4]
                              : 0.0f;
    }
    for (unsigned i = threadIdx.x; i < stages * shape.stage_bytes / 4; i += blockDim.x)
        ((float *)memory)[i] = 0.0f; /* what no copy fills stays so */
    __syncthreads();
    for (int s = 0; s + 1 < stages; s++) { /* one stage stays free: it takes what comes behind the chunk at work */
        if ((size_t)s < shape.chunks)
            chunk_load<storage>(&shape, zero + s * shape.heads, start, x_spread, w_spread,
                                memory + s * shape.stage_bytes, h_local, gamma, W, Y);
        __pipeline_commit();
    }
    for (size_t k = 0, here = 0, last = stages - 1; k < shape.chunks; k++) {
        char *const stage = memory + here * shape.stage_bytes;
        if (stages > 1)
            __pipeline_wait_prior(stages - 2);
        __syncthreads(); /* the chunk is there for all, and all have left the one before */
        if (k + stages - 1 < shape.chunks)
            chunk_load<storage>(&shape, zero + (k + stages - 1) * shape.heads, start, x_spread, w_spread,
                                memory + last * shape.stage_bytes, h_local, gamma, W, Y);
        __pipeline_commit();
        if (stages == 1) { /* there was no room for it before */
            __pipeline_wait_prior(0);
            __syncthreads();
        }
        const char *const w = stage + shape.x_bytes, *const y = w + shape.w_bytes;
        const float *const g = (const float *)(y + shape.w_bytes) + part * every;
#pragma unroll
        for (int v = 0; v < rows * 4; v++)
            t[v / 4][v % 4] = h[v / 4][v % 4];
        for (int r = 0; r < shape.padded; r += 4)
            four_ranks<storage, rows>(w, y, part * shape.stride + r, shape.stride, h, (float *)sums[warp][r / 4 % 2],
                                      t);
        size_t at = ((zero + k * shape.heads) * shape.dk + part) * shape.dv + start + own;
#pragma unroll
        for (int i = 0; i < rows; i++, at += PARTS * shape.dv) {
            float x[4], out[4];
            read4<storage>(stage, (i * PARTS + part) * X_STRIDE + own, x);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const float before = h[i][c];
                h[i][c] = g[i * PARTS * every] * t[i][c] + x[c];
                out[c] = exclusive ? before : h[i][c];
            }
            if (i * PARTS + part < shape.dk)
                write_columns<storage>(h_out, at, columns, fours, out);
        }
        here = here + 1 == (size_t)stages ? 0 : here + 1;
        last = last + 1 == (size_t)stages ? 0 : last + 1;
    }
#pragma unroll
    for (int i = 0; i < rows; i++)
        if (final_state != NULL && i * PARTS + part < shape.dk)
            write_columns<FLOAT32>(final_state, (head * shape.dk + i * PARTS + part) * shape.dv + start + own, columns,
                                   fours, h[i]);
}

/* The kernel for one storage: a thread has 4, 8 or 16 rows, as dk asks for. */
typedef void low_rank_kernel(struct low_rank_shape, bool, const void *, const float *, const void *, const void *,
                             const float *, void *, float *);
template <int storage>
static low_rank_kernel *kernel_for(size_t rows)
{
    return rows <= 4   ? low_rank_forward<storage, 4>
           : rows <= 8 ? low_rank_forward<storage, 8>
                       : low_rank_forward<storage, 16>;
}

extern "C" cudaError_t chunk_state_low_rank(const struct chunk_state_args *args, cudaStream_t stream)
{
    const size_t rows = args->dk <= 4 * PARTS ? 4 : args->dk <= 8 * PARTS ? 8 : 16;
    low_rank_kernel *const kernel = args->storage == FLOAT32 ? kernel_for<FLOAT32>(rows)
                                    : args->storage == BF16  ? kernel_for<BF16>(rows)
                                                             : kernel_for<FP16>(rows);
    bool done;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (done)
        return error;
    struct low_rank_shape shape;
    error = low_rank_shape_of(args, rows * PARTS, 0, &shape);
    if (error == cudaSuccess && shape.stages == 0)
        error = cudaErrorNotSupported;
    if (error == cudaSuccess)
        error =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, LOW_RANK_THREADS, shape.stages *(size_t)shape.stage_bytes, stream>>>(
        shape, args->exclusive, args->h_local, args->gamma, args->W, args->Y, args->initial_state, args->h_out,
        args->final_state);
    return cudaGetLastError();
}
