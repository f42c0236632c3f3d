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

/* Where there is one unit in a row. */
static __device__ __forceinline__ void units_copy(const struct share *share, char *stage, int bytes)
{
    const char *from = share->from;
    char *to = stage + share->to;
#pragma unroll 4
    for (int row = 0; row < share->rows; row++) {
        __pipeline_memcpy_async(to, from, bytes);
        to += share->to_row, from += share->row;
    }
}

static __device__ __forceinline__ void share_copy(const struct share *share, char *stage)
{
    if (share->units <= 1 && share->bytes == 16)
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

/* The same units of a stage, to where the thread's first one belongs: one in a row, if they are larger than 2 bytes. */
static __device__ __forceinline__ void share_store(const struct share *share, const char *stage, char *to)
{
    const char *from = stage + share->to;
    if (share->bytes == 16) {
#pragma unroll 4
        for (int row = 0; row < share->rows; row++) {
            __stcs((float4 *)to, *(const float4 *)from);
            from += share->to_row, to += share->row;
        }
        return;
    }
#pragma unroll 1
    for (int row = 0; row < share->rows; row++) {
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

/* All chunks, one after the other, as far ahead as there are stages. thread: of those that copy. Four warps have the
   states' rows: those of x, and backward two of them those of `states`; then one has W and gamma, and one Y. out: what
   takes the place of x. `done` barriers tell that a chunk is done, to `threads` threads. */
template <int storage, bool backward>
static __device__ __forceinline__ void copy_chunks(const struct low_rank_shape *shape, struct place place, char *memory,
                                                   int thread, const void *x, const void *states, const float *gamma,
                                                   const void *W, const void *Y, void *out, int done, int threads)
{
    const int bytes = (int)stored_bytes(storage), lane = thread % 32, on_x = backward ? 64 : 128;
    const int w_bytes = shape->rank * bytes, x_bytes = (int)min(shape->dv - place.start, (size_t)COLUMNS) * bytes;
    const size_t row = shape->dv * bytes, first = place.zero + (backward ? (shape->chunks - 1) * shape->heads : 0);
    const size_t at = first * shape->dk * row + place.start * bytes;
    const bool is_x = thread < on_x, is_state = thread < 128, is_w = !is_state && thread < 160;
    const bool raw = !is_state && shape->raw_unit != 0;
    const char *const matrix = (const char *)(is_w ? W : Y) + first * shape->dk * w_bytes;
    const unsigned rows_at = is_w ? shape->at.w : shape->at.y, raw_at = is_w ? shape->at.raw_w : shape->at.raw_y;
    struct share share =
        is_state ? share_of(thread % on_x, on_x, (const char *)(is_x ? x : states) + at, row,
                            is_x ? shape->at.x : shape->at.states, X_STRIDE(storage) * bytes, shape->dk, x_bytes,
                            shape->x_unit)
        : raw    ? share_of(lane, 32, matrix, shape->raw_unit, raw_at, shape->raw_unit,
                            shape->dk * w_bytes / shape->raw_unit, shape->raw_unit, shape->raw_unit)
              : share_of(lane, 32, matrix, w_bytes, rows_at, shape->stride * bytes, shape->dk, w_bytes, shape->w_unit);
    const ptrdiff_t step = backward ? -(ptrdiff_t)shape->heads : (ptrdiff_t)shape->heads; /* rows from chunk to chunk */
    const ptrdiff_t next = step * shape->dk * (ptrdiff_t)(is_state ? row : w_bytes);
    const int decays = is_w ? shape->decays : 0;
    const size_t stages = shape->stages;
    const size_t behind = stages >= 6 ? 3 : stages >= 4 ? 2 : stages == 3 ? 1 : 0; /* chunks on their way, at least */
    const float *decay = gamma + first * shape->decays;
    char *to = (char *)out + (is_x ? share.from - (const char *)x : 0);
    struct ring ring = ring_of(shape, memory), come = ring;
    for (size_t k = 0; k < shape->chunks + stages; k++, ring_next(&ring)) {
        if (k >= stages) {
            named_barrier_sync(done + ring.which, threads);
            if (is_x)
                share_store(&share, ring.stage, to), to += next;
        }
        if (k < shape->chunks) {
            share_copy(&share, ring.stage);
            share.from += next;
#pragma unroll 1
            for (int i = lane; i < decays; i += 32)
                __pipeline_memcpy_async(ring.stage + shape->at.gamma + i * 4, decay + i, 4);
            decay += step * shape->decays;
        }
        __pipeline_commit();
        if (k >= behind && k < shape->chunks + behind) {
            copies_wait((int)behind);
            if (raw)
                spread_rows(shape, come.stage + raw_at, come.stage + rows_at);
            named_barrier_arrive(THERE + come.which, LOW_RANK_COMPUTING + LOW_RANK_COPYING);
            ring_next(&come);
        }
    }
}

#endif
