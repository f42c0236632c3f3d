/* low_rank.cuh - what the kernels with W and Y share: how the chunks come into stages of shared memory. A stage has
   h_local's columns, W, Y and gamma, one row behind the other; rows that are not there are zeros. */
#ifndef LOW_RANK_CUH
#define LOW_RANK_CUH

#include <cuda_pipeline.h>
#include <named_barrier.h>

#include "chunk_state.h"
#include "stored.cuh"

/* How threads, a multiple of 32, share the copies of rows of so many bytes, `unit` bytes at once: where a thread
   begins, and its steps. */
struct spread {
    unsigned bytes, unit, row, at, more_rows, more;
};

static __device__ __forceinline__ struct spread spread_of(unsigned thread, unsigned threads, unsigned bytes,
                                                          unsigned unit)
{
    unsigned wide = 1; /* threads side by side in a row */
    while (wide < 32 && wide * unit < bytes)
        wide *= 2;
    const struct spread spread = {bytes, unit, thread / wide, thread % wide * unit, threads / wide, wide * unit};
    return spread;
}

/* Copies `rows` rows of at most 32 times 16 bytes, which lie from_stride and to_stride bytes apart. */
static __device__ __forceinline__ void copy_rows(struct spread spread, char *to, const char *from, unsigned rows,
                                                 unsigned to_stride, size_t from_stride)
{
    to += spread.row * to_stride;
    from += spread.row * from_stride;
    for (unsigned row = spread.row; row < rows; row += spread.more_rows) {
        if (spread.unit == 16 && spread.at < spread.bytes)
            __pipeline_memcpy_async(to + spread.at, from + spread.at, 16);
        for (unsigned at = spread.at; spread.unit != 16 && at < spread.bytes; at += spread.more)
            if (spread.unit == 4)
                __pipeline_memcpy_async(to + at, from + at, 4);
            else /* cp.async takes four bytes at least */
                *(unsigned short *)(to + at) = *(const unsigned short *)(from + at);
        to += spread.more_rows * to_stride;
        from += spread.more_rows * from_stride;
    }
}

enum { PARTS = 16 }; /* low_rank.cu: lanes that share the rows of a column */

/* Stores up to four columns of a row, at once if they stand at a multiple of four. */
template <int storage>
static __device__ __forceinline__ void write_row(void *array, size_t at, int columns, bool fours, const float x[4])
{
    if (fours)
        write4<storage>(array, at, x);
    else
        for (int c = 0; c < 4; c++)
            if (c < columns)
                write1<storage>(array, at + c, x[c]);
}

/* Where the parts of a stage stand. */
struct stage {
    char *x, *w, *y;
    float *gamma;
};

static __device__ __forceinline__ struct stage stage_of(const struct low_rank_shape *shape, char *stages, size_t which)
{
    char *const x = stages + which * shape->stage_bytes, *const w = x + shape->x_bytes, *const y = w + shape->w_bytes;
    const struct stage stage = {x, w, y, (float *)(y + shape->w_bytes)};
    return stage;
}

/* Where a block is: of its head, the row of chunk 0 in (batch, chunks, heads); and its first column. */
struct place {
    size_t head, zero;
    unsigned start;
};

/* Block (batch * heads + head) * slices + slice. */
static __device__ __forceinline__ struct place place_of(const struct low_rank_shape *shape)
{
    const size_t head = blockIdx.x / shape->slices;
    const struct place place = {head, head / shape->heads * shape->chunks * shape->heads + head % shape->heads,
                                blockIdx.x % shape->slices * COLUMNS};
    return place;
}

/* All threads: what no copy will fill becomes 0, once for all. */
static __device__ __forceinline__ void stages_clear(const struct low_rank_shape *shape, char *stages)
{
    for (unsigned i = threadIdx.x; i < shape->stages * shape->stage_bytes / 4; i += blockDim.x)
        ((float *)stages)[i] = 0.0f;
    __syncthreads();
}

/* Where those who compute meet those who copy, before each chunk: it is there for all, and all have left the one
   before. If there is one stage only, it is not asked for before that, and they meet once more. */
static __device__ __forceinline__ void meet(const struct low_rank_shape *shape)
{
    named_barrier_sync(1, 2 * LOW_RANK_THREADS);
    if (shape->stages == 1)
        named_barrier_sync(1, 2 * LOW_RANK_THREADS);
}

/* The threads that copy: all chunks, one after the other, as far ahead as there are stages. */
template <int storage>
static __device__ __forceinline__ void copy_chunks(const struct low_rank_shape *shape, struct place place, char *stages,
                                                   const void *h_local, const float *gamma, const void *W,
                                                   const void *Y)
{
    const unsigned bytes = (unsigned)stored_bytes(storage), thread = threadIdx.x - LOW_RANK_THREADS;
    const unsigned x_bytes = (unsigned)min(shape->dv - place.start, (size_t)COLUMNS) * bytes;
    const unsigned w_bytes = shape->rank * bytes, w_stride = shape->stride * bytes;
    const struct spread x_spread = spread_of(thread, LOW_RANK_THREADS, x_bytes, shape->x_unit);
    const struct spread w_spread = spread_of(thread, LOW_RANK_THREADS, w_bytes, shape->w_unit);
    const size_t ahead = shape->stages - 1;
    for (size_t k = 0, into = 0; k < shape->chunks + ahead; k++) {
        if (k >= ahead) { /* chunk k - ahead is next */
            __pipeline_wait_prior(ahead != 0 ? ahead - 1 : 0);
            named_barrier_sync(1, 2 * LOW_RANK_THREADS);
        }
        if (k < shape->chunks) {
            const struct stage to = stage_of(shape, stages, into);
            const size_t row = place.zero + k * shape->heads, at = row * shape->dk;
            copy_rows(x_spread, to.x, (const char *)h_local + (at * shape->dv + place.start) * bytes, shape->dk,
                      X_STRIDE * bytes, shape->dv * bytes);
            copy_rows(w_spread, to.w, (const char *)W + at * w_bytes, shape->dk, w_stride, w_bytes);
            copy_rows(w_spread, to.y, (const char *)Y + at * w_bytes, shape->dk, w_stride, w_bytes);
            for (unsigned i = thread; i < (unsigned)shape->decays; i += LOW_RANK_THREADS)
                __pipeline_memcpy_async(to.gamma + i, gamma + row * shape->decays + i, 4);
            into = into == ahead ? 0 : into + 1;
        }
        __pipeline_commit();
        if (ahead == 0) {
            __pipeline_wait_prior(0);
            named_barrier_sync(1, 2 * LOW_RANK_THREADS);
        }
    }
}

#endif
