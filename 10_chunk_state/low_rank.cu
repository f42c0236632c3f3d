/* low_rank.cu - A with W and Y. A block keeps some columns of a head's state in registers and goes through the chunks;
   h_local, gamma, W and Y of the next ones come into stages of shared memory by cp.async, in whatever pieces they are
   aligned to. In each chunk

       p = Y^T h                  a sum over rows: over the thread's, then over the warps'
       h = gamma (h - W p) + x    each thread its rows                                                            */
#include <cuda_runtime.h>

#include "low_rank.cuh"

/* Asks for a chunk of the block's head: h_local's columns, W, Y, gamma. All threads call it. */
template <int storage>
static __device__ __forceinline__ void chunk_load(const struct low_rank_shape *shape, size_t row, unsigned start,
                                                  struct spread x_spread, struct spread w_spread, char *stage,
                                                  const void *h_local, const float *gamma, const void *W, const void *Y)
{
    const unsigned bytes = (unsigned)stored_bytes(storage), rank_bytes = shape->rank * bytes;
    const size_t at = row * shape->dk;
    char *const w = stage + shape->x_bytes, *const y = w + shape->w_bytes;
    copy_rows(x_spread, stage, (const char *)h_local + (at * shape->dv + start) * bytes, shape->dk, COLUMNS * bytes,
              shape->dv * bytes, shape->x_unit);
    if (shape->rank != 0) {
        copy_rows(w_spread, w, (const char *)W + at * rank_bytes, shape->dk, shape->padded * bytes, rank_bytes,
                  shape->w_unit);
        copy_rows(w_spread, y, (const char *)Y + at * rank_bytes, shape->dk, shape->padded * bytes, rank_bytes,
                  shape->w_unit);
    }
    for (unsigned i = threadIdx.x; i < (unsigned)shape->decays; i += blockDim.x)
        __pipeline_memcpy_async((float *)(y + shape->w_bytes) + i, gamma + row * shape->decays + i, 4);
}

/* Block (batch * heads + head) * slices + slice. */
template <int storage, int rows>
static __global__ void __launch_bounds__(rows == 8 ? 512 : 256, 1)
    low_rank_forward(struct low_rank_shape shape, bool exclusive, const void *__restrict__ h_local,
                     const float *__restrict__ gamma, const void *__restrict__ W, const void *__restrict__ Y,
                     const float *__restrict__ initial_state, void *__restrict__ h_out, float *__restrict__ final_state)
{
    extern __shared__ __align__(16) char memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32, first = warp * rows;
    const int stages = shape.stages, every = shape.decays == 1 ? 0 : 1;
    const unsigned dv = (unsigned)shape.dv;
    const size_t head = blockIdx.x / shape.slices, batch = head / shape.heads;
    const unsigned start = blockIdx.x % shape.slices * COLUMNS;
    const int columns = (int)min(shape.dv - start, (size_t)COLUMNS);
    const size_t zero =
        batch * shape.chunks * shape.heads + head % shape.heads; /* the head's row of chunk 0; heads on the next */
    float *const parts = (float *)(memory + stages * shape.stage_bytes), *const p =
                                                                             parts + 2 * num_warps * RANKS * COLUMNS;
    const int mine = lane < columns ? min(shape.dk - first, (int)rows) : 0; /* rows of the thread */
    const struct spread x_spread = spread_of(columns * (unsigned)stored_bytes(storage) / shape.x_unit);
    const struct spread w_spread =
        spread_of(shape.rank != 0 ? shape.rank * (unsigned)stored_bytes(storage) / shape.w_unit : 1);
    float h[rows], t[rows];

#pragma unroll
    for (int i = 0; i < rows; i++)
        h[i] = initial_state != NULL && i < mine
                   ? initial_state[(head * shape.dk + first + i) * shape.dv + start + lane]
                   : 0.0f;
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
        const float *const g = (const float *)(y + shape.w_bytes) + first * every;
#pragma unroll
        for (int i = 0; i < rows; i++)
            t[i] = h[i];
        if (shape.rank != 0) {
            project<storage, rows>(y, shape.padded, h, parts, p);
            subtract<storage, rows>(w, shape.padded, p, t);
        }
        const size_t at = ((zero + k * shape.heads) * shape.dk + first) * shape.dv + start + lane;
#pragma unroll
        for (int i = 0; i < rows; i++) {
            const float before = h[i];
            h[i] = g[i * every] * t[i] + read1<storage>(stage, (first + i) * COLUMNS + lane);
            if (i < mine)
                write1<storage>(h_out, at + i * dv, exclusive ? before : h[i]);
        }
        here = here + 1 == (size_t)stages ? 0 : here + 1;
        last = last + 1 == (size_t)stages ? 0 : last + 1;
    }
#pragma unroll
    for (int i = 0; i < rows; i++)
        if (final_state != NULL && i < mine)
            final_state[(head * shape.dk + first + i) * shape.dv + start + lane] = h[i];
}

extern "C" cudaError_t chunk_state_low_rank(const struct chunk_state_args *args, cudaStream_t stream)
{
    const bool tall = args->dk > 8 * LOW_RANK_MAX_THREADS / 32;
    void (*const kernel)(struct low_rank_shape, bool, const void *, const float *, const void *, const void *,
                         const float *, void *, float *) =
        args->storage == FLOAT32 ? (tall ? low_rank_forward<FLOAT32, 32> : low_rank_forward<FLOAT32, 8>)
        : args->storage == BF16  ? (tall ? low_rank_forward<BF16, 32> : low_rank_forward<BF16, 8>)
                                 : (tall ? low_rank_forward<FP16, 32> : low_rank_forward<FP16, 8>);
    bool done;
    cudaError_t error = chunk_state_begin(args, false, CHUNK_STATE_MAX_RANK, stream, &done);
    if (done)
        return error;
    struct low_rank_shape shape;
    error = low_rank_shape_of(args, &shape);
    if (error == cudaSuccess && shape.stages == 0)
        error = cudaErrorNotSupported;
    const size_t shared = shape.own + shape.stages * (size_t)shape.stage_bytes;
    if (error == cudaSuccess)
        error =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.limit);
    if (error != cudaSuccess)
        return error;
    kernel<<<shape.blocks, shape.threads, shared, stream>>>(shape, args->exclusive, args->h_local, args->gamma, args->W,
                                                            args->Y, args->initial_state, args->h_out,
                                                            args->final_state);
    return cudaGetLastError();
}
