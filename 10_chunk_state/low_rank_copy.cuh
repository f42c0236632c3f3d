/* low_rank_copy.cuh - the warps of low_rank.cu and low_rank_backward.cu that copy: they bring the chunks to the stages
   and store the results, which those who compute leave where h_local, or d_h_out, was. */
#ifndef LOW_RANK_COPY_CUH
#define LOW_RANK_COPY_CUH

#include <cuda_pipeline.h>

#include "low_rank.cuh"

/* A thread's share in the copies of a matrix's rows: some units of one row, and the same of every few rows further. */
struct share {
    const char *from; /* its first unit, of the chunk that is copied next */
    size_t row;       /* bytes from row to row of its share */
    unsigned to, to_row;
    int rows, units, bytes, apart; /* in a row so many units of so many bytes; from one to the next */
};

/* Of `rows` rows of so many bytes, which threads, a multiple of 32, copy by units. to: where the rows begin in a stage.
   They lie from_row and to_row bytes apart. */
static __device__ __forceinline__ struct share share_of(int thread, int threads, const void *from, size_t from_row,
                                                        unsigned to, unsigned to_row, int rows, int bytes, int unit)
{
    int wide = 1; /* threads side by side in a row */
    while (wide < 32 && wide * unit < bytes)
        wide *= 2;
    const int row = thread / wide, at = thread % wide * unit, step = threads / wide;
    const struct share share = {(const char *)from + row * from_row + at,
                                step * from_row,
                                to + row * to_row + at,
                                step * to_row,
                                row < rows && at < bytes ? (rows - row + step - 1) / step : 0,
                                at < bytes ? (bytes - at + wide * unit - 1) / (wide * unit) : 0,
                                unit,
                                wide * unit};
    return share;
}

/* Where there is one unit in a row. Four rows at a time, without branches between them. */
static __device__ __forceinline__ void units_copy(const struct share *share, char *stage, int bytes)
{
    const char *from = share->from;
    char *to = stage + share->to;
    int rows = share->rows;
    do {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < rows)
                __pipeline_memcpy_async(to + i * share->to_row, from + i * share->row, bytes);
        to += 4 * share->to_row, from += 4 * share->row, rows -= 4;
    } while (rows > 0);
}

static __device__ __forceinline__ void share_copy(const struct share *share, char *stage)
{
    if (share->bytes == 16) /* the 32 lanes of a warp have more than a row's units */
        return units_copy(share, stage, 16);
    if (share->units <= 1 && share->bytes == 8)
        return units_copy(share, stage, 8);
    if (share->units <= 1 && share->bytes == 4)
        return units_copy(share, stage, 4);
    const char *from = share->from;
    char *to = stage + share->to;
#pragma unroll 1
    for (int row = 0; row < share->rows; row++) {
#pragma unroll 1
        for (int i = 0, at = 0; i < share->units; i++, at += share->apart)
            if (share->bytes == 4)
                __pipeline_memcpy_async(to + at, from + at, 4);
            else /* cp.async takes four bytes at least */
                *(unsigned short *)(to + at) = *(const unsigned short *)(from + at);
        to += share->to_row, from += share->row;
    }
}

/* The same units of a stage, to where the thread's first one belongs. The 32 columns of a row are one unit a thread. */
static __device__ __forceinline__ void share_store(const struct share *share, const char *stage, char *to)
{
    const char *from = stage + share->to;
    int rows = share->rows;
    if (share->bytes == 16) {
        do {
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (i < rows)
                    __stcs((float4 *)(to + i * share->row), *(const float4 *)(from + i * share->to_row));
            to += 4 * share->row, from += 4 * share->to_row, rows -= 4;
        } while (rows > 0);
        return;
    }
#pragma unroll 1
    for (; rows > 0; rows--) {
        if (share->bytes == 8)
            *(float2 *)to = *(const float2 *)from;
        else if (share->bytes == 4)
            *(float *)to = *(const float *)from;
        else
            *(unsigned short *)to = *(const unsigned short *)from;
        from += share->to_row, to += share->row;
    }
}

/* Spreads a matrix whose rows lie one behind the other to the rows of a stage. 16 bits an element; a warp does so. */
static __device__ __forceinline__ void spread_rows(const struct low_rank_shape *shape, const char *from, char *to)
{
    const int lane = threadIdx.x % 32;
    int row = lane / shape->rank, r = lane % shape->rank;
    __syncwarp(); /* what the other lanes have waited for is there, too */
#pragma unroll 1
    for (int i = lane; i < shape->dk * shape->rank; i += 32) {
        ((unsigned short *)to)[row * shape->stride + r] = ((const unsigned short *)from)[i];
        row += 32 / shape->rank, r += 32 % shape->rank;
        if (r >= shape->rank)
            r -= shape->rank, row++;
    }
}

/* Waits until at most `most` of the thread's last commits are on their way; the instruction takes a constant. */
static __device__ __forceinline__ void copies_wait(int most)
{
    if (most >= 3)
        __pipeline_wait_prior(3);
    else if (most == 2)
        __pipeline_wait_prior(2);
    else if (most == 1)
        __pipeline_wait_prior(1);
    else
        __pipeline_wait_prior(0);
}

/* Chunks that may be on their way while the next one is needed. */
static __device__ __forceinline__ size_t chunks_behind(const struct low_rank_shape *shape)
{
    return shape->stages >= 6 ? 3 : shape->stages >= 4 ? 2 : shape->stages == 3 ? 1 : 0;
}

/* Chunk k - behind is there: the warp has waited for its part, and tells those who compute. */
static __device__ __forceinline__ void chunk_there(struct ring *come)
{
    named_barrier_arrive(THERE + come->which, LOW_RANK_COMPUTING + LOW_RANK_COPYING);
    ring_next(come);
}

/* Four warps: the rows of x, and backward half of them those of `states`, for all chunks one after the other, as far
   ahead as there are stages. thread: of those that copy. out: what takes the place of x. `done` barriers tell that a
   chunk is done, to `threads` threads. */
template <int storage, bool backward>
static __device__ __forceinline__ void copy_states(const struct low_rank_shape *shape, struct place place, char *memory,
                                                   int thread, const void *x, const void *states, void *out, int done,
                                                   int threads)
{
    const int bytes = (int)stored_bytes(storage), on_x = backward ? 64 : 128;
    const int row_bytes = (int)min(shape->dv - place.start, (size_t)COLUMNS) * bytes;
    const size_t row = shape->dv * bytes, stages = shape->stages, chunks = shape->chunks;
    const size_t behind = chunks_behind(shape), first = place.zero + (backward ? (chunks - 1) * shape->heads : 0);
    const bool is_x = !backward || thread < on_x;
    struct share share = share_of(
        thread % on_x, on_x, (const char *)(is_x ? x : states) + first * shape->dk * row + place.start * bytes, row,
        is_x ? shape->at.x : shape->at.states, X_STRIDE(storage) * bytes, shape->dk, row_bytes, shape->x_unit);
    const ptrdiff_t next = (backward ? -1 : 1) * (ptrdiff_t)(shape->heads * shape->dk * row);
    char *to = (char *)out + (is_x ? share.from - (const char *)x : 0);
    struct ring ring = ring_of(shape, memory), come = ring;
    for (size_t k = 0; k < chunks + stages; k++, ring_next(&ring)) {
        if (k >= stages) {
            named_barrier_sync(done + ring.which, threads);
            if (is_x)
                share_store(&share, ring.stage, to);
            to += next;
        }
        if (k < chunks)
            share_copy(&share, ring.stage);
        share.from += next;
        __pipeline_commit();
        if (k >= behind && k < chunks + behind) {
            copies_wait((int)behind);
            chunk_there(&come);
        }
    }
}

/* Two warps: one has W and gamma, one Y. */
template <int storage, bool backward>
static __device__ __forceinline__ void copy_factors(const struct low_rank_shape *shape, struct place place,
                                                    char *memory, bool is_w, const float *gamma, const void *W,
                                                    const void *Y, int done, int threads)
{
    const int bytes = (int)stored_bytes(storage), lane = threadIdx.x % 32, row = shape->rank * bytes;
    const size_t stages = shape->stages, chunks = shape->chunks, behind = chunks_behind(shape);
    const size_t first = place.zero + (backward ? (chunks - 1) * shape->heads : 0);
    const bool raw = shape->raw_unit != 0;
    const char *const from = (const char *)(is_w ? W : Y) + first * shape->dk * row;
    const unsigned rows_at = is_w ? shape->at.w : shape->at.y, raw_at = is_w ? shape->at.raw_w : shape->at.raw_y;
    struct share share =
        raw ? share_of(lane, 32, from, shape->raw_unit, raw_at, shape->raw_unit, shape->dk * row / shape->raw_unit,
                       shape->raw_unit, shape->raw_unit)
            : share_of(lane, 32, from, row, rows_at, shape->stride * bytes, shape->dk, row, shape->w_unit);
    const ptrdiff_t step = (backward ? -1 : 1) * (ptrdiff_t)shape->heads, next = step * shape->dk * row;
    const int decays = is_w ? shape->decays : 0;
    const float *decay = gamma + first * shape->decays;
    struct ring ring = ring_of(shape, memory), come = ring;
    for (size_t k = 0; k < chunks + behind; k++, ring_next(&ring)) {
        if (k >= stages)
            named_barrier_sync(done + ring.which, threads);
        if (k < chunks) {
            share_copy(&share, ring.stage);
#pragma unroll 1
            for (int i = lane; i < decays; i += 32)
                __pipeline_memcpy_async(ring.stage + shape->at.gamma + i * 4, decay + i, 4);
        }
        share.from += next, decay += step * shape->decays;
        __pipeline_commit();
        if (k >= behind) {
            copies_wait((int)behind);
            if (raw)
                spread_rows(shape, come.stage + raw_at, come.stage + rows_at);
            chunk_there(&come);
        }
    }
    for (size_t k = chunks + behind; k < chunks + stages; k++, ring_next(&ring)) /* the other warps wait for these */
        if (k >= stages)
            named_barrier_sync(done + ring.which, threads);
}

/* The warps that copy. thread: of theirs. */
template <int storage, bool backward>
static __device__ __forceinline__ void copy_chunks(const struct low_rank_shape *shape, struct place place, char *memory,
                                                   int thread, const void *x, const void *states, const float *gamma,
                                                   const void *W, const void *Y, void *out, int done, int threads)
{
    if (thread < LOW_RANK_COPYING - 64)
        copy_states<storage, backward>(shape, place, memory, thread, x, states, out, done, threads);
    else
        copy_factors<storage, backward>(shape, place, memory, thread < LOW_RANK_COPYING - 32, gamma, W, Y, done,
                                        threads);
}

#endif
