/* low_rank.cuh - what the kernels with W and Y share: how the chunks come into stages of shared memory. A stage has
   h_local's columns, W, Y and gamma, one row behind the other; rows that are not there are zeros. */
#ifndef LOW_RANK_CUH
#define LOW_RANK_CUH

#include <cuda_pipeline.h>
#include "../../common/cuda/named_barrier.h"

#include "kernels.h"
#include "stored.cuh"

/* Two columns of a row, which stand at a multiple of two. */
template <int dtype>
static __device__ __forceinline__ void read2(const void *array, size_t i, float x[2])
{
    if (dtype == FLOAT32) {
        const float2 two = ((const float2 *)array)[i / 2];
        x[0] = two.x, x[1] = two.y;
    } else {
        const float2 two = unpack<dtype>(((const unsigned *)array)[i / 2]);
        x[0] = two.x, x[1] = two.y;
    }
}

template <int dtype>
static __device__ __forceinline__ void write2(void *array, size_t i, const float x[2])
{
    if (dtype == FLOAT32)
        ((float2 *)array)[i / 2] = make_float2(x[0], x[1]);
    else
        ((unsigned *)array)[i / 2] = pack<dtype>(x[0], x[1]);
}

/* The same number; but the compiler, which cannot see that, keeps it in a register, where otherwise it might compute it
   again in each chunk. All lanes of a warp call it together. */
static __device__ __forceinline__ unsigned keep(unsigned value)
{
    return __shfl_sync(0xFFFFFFFFu, value, threadIdx.x % 32);
}

/* The parts of a stage: h_local, W, Y, gamma, room for p, and for W and Y as they come. Here: in bytes from its
   beginning. */
struct stage {
    unsigned x, w, y, gamma, p, raw;
};

static __device__ __forceinline__ struct stage stage_of(const struct low_rank_shape *shape)
{
    const unsigned w = shape->x_bytes, y = w + shape->w_bytes, gamma = y + shape->w_bytes;
    const unsigned p = gamma + shape->gamma_bytes;
    const struct stage stage = {0, w, y, gamma, p, p + shape->padded * COLUMNS * (unsigned)sizeof(float)};
    return stage;
}

/* A walk over the stages, again and again. */
struct ring {
    char *stage;
    int bytes, count, which;
};

static __device__ __forceinline__ struct ring ring_of(const struct low_rank_shape *shape, char *memory)
{
    const struct ring ring = {memory, (int)keep(shape->stage_bytes), (int)keep(shape->stages), 0};
    return ring;
}

static __device__ __forceinline__ void ring_next(struct ring *ring)
{
    const bool last = ++ring->which == ring->count;
    ring->stage += last ? (1 - ring->count) * ring->bytes : ring->bytes;
    ring->which = last ? 0 : ring->which;
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
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < shape->stages * shape->stage_bytes / 16; i += blockDim.x)
        ((float4 *)stages)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
}

/* Where those who compute meet those who copy, before each chunk and behind the last one: what was copied is there for
   all, and all have left the chunk before. Where there is one stage only they also meet when a chunk is done. */
static __device__ __forceinline__ void meet(void)
{
    named_barrier_sync(1, LOW_RANK_THREADS + LOW_RANK_COPYING);
}

/* Whether the state has this row and the block's column. */
static __device__ __forceinline__ bool is_there(const struct low_rank_shape *shape, struct place place, int row,
                                                int column)
{
    return row < shape->dk && place.start + column < shape->dv;
}

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

/* One unit of each row, the one that begins `at` bytes behind the thread's first. */
static __device__ __forceinline__ void units_copy(const struct share *share, char *stage, int at, int bytes)
{
    const char *from = share->from + at;
    char *to = stage + share->to + at;
#pragma unroll 4
    for (int row = 0; row < share->rows; row++) {
        __pipeline_memcpy_async(to, from, bytes);
        to += share->to_row, from += share->row;
    }
}

/* Elements of 16 bits from `from` to `to`, from_row and to_row bytes apart. Several are read before the first is
   written, so that their ways to the registers overlap. */
static __device__ __forceinline__ void elements_move(const char *from, size_t from_row, char *to, size_t to_row,
                                                     int rows)
{
    enum { BATCH = 8 };
#pragma unroll 1
    for (int row = 0; row < rows; row += BATCH, from += BATCH * from_row, to += BATCH * to_row) {
        unsigned short batch[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            if (row + i < rows)
                batch[i] = *(const unsigned short *)(from + i * from_row);
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            if (row + i < rows)
                *(unsigned short *)(to + i * to_row) = batch[i];
    }
}

template <int dtype>
static __device__ __forceinline__ void share_copy(const struct share *share, char *stage)
{
    if (share->bytes == 16) /* the 32 lanes of a warp have more than a row's units */
        return units_copy(share, stage, 0, 16);
#pragma unroll 1
    for (int i = 0, at = 0; i < share->units; i++, at += share->apart)
        if (share->bytes == 8)
            units_copy(share, stage, at, 8);
        else if (share->bytes == 4)
            units_copy(share, stage, at, 4);
        else if (dtype != FLOAT32) /* cp.async takes four bytes at least */
            elements_move(share->from + at, share->row, stage + share->to + at, share->to_row, share->rows);
}

/* The same units of a stage, to where the thread's first one belongs. Of a row a thread has one unit. */
template <int dtype>
static __device__ __forceinline__ void share_store(const struct share *share, const char *stage, char *to)
{
    const char *from = stage + share->to;
    if (share->bytes == 16) {
#pragma unroll 4
        for (int row = 0; row < share->rows; row++) {
            *(float4 *)to = *(const float4 *)from;
            from += share->to_row, to += share->row;
        }
        return;
    }
    if (dtype != FLOAT32 && share->bytes == 2)
        return elements_move(from, share->to_row, to, share->row, share->rows);
#pragma unroll 1
    for (int row = 0; row < share->rows; row++) {
        if (share->bytes == 8)
            *(float2 *)to = *(const float2 *)from;
        else
            *(float *)to = *(const float *)from;
        from += share->to_row, to += share->row;
    }
}

/* Spreads a matrix of rows that lie one behind the other to the rows of a stage; a warp does so, four elements of 16
   bits at a time. */
static __device__ __forceinline__ void spread_rows(const struct low_rank_shape *shape, const char *from, char *to)
{
    const int lane = threadIdx.x % 32, rank = shape->rank, count = shape->dk * rank;
    const int rows_on = 128 / rank, r_on = 128 % rank; /* from a lane's four elements to its next four */
    int row = lane * 4 / rank, r = lane * 4 % rank;
    __syncwarp(); /* what other lanes have waited for is there, too */
#pragma unroll 1
    for (int i = lane * 4; i < count; i += 128) {
        const uint2 four = *(const uint2 *)(from + i * 2);
        const unsigned pairs[2] = {four.x, four.y};
        char *at = to + (row * shape->stride + r) * 2;
        int left = rank - r; /* in this row */
#pragma unroll
        for (int j = 0; j < 4; j++, at += 2) {
            if (i + j < count)
                *(unsigned short *)at = (unsigned short)(pairs[j / 2] >> j % 2 * 16);
            if (--left == 0)
                left = rank, at += (shape->stride - rank) * 2;
        }
        row += rows_on, r += r_on;
        if (r >= rank)
            r -= rank, row++;
    }
}

/* What a copying thread has of each chunk. */
struct chunk_copies {
    struct share share;
    ptrdiff_t next;     /* bytes to the next chunk */
    char *out;          /* NULL: stores nothing */
    const float *decay; /* the next chunk's for a lane: of every 32nd row, */
    int decays, every;  /* of so many, so far apart; one for all rows is copied to each */
    ptrdiff_t decays_next;
    unsigned gamma;     /* where they belong in a stage */
    unsigned raw, rows; /* W or Y as they come, and where they are spread to; the same: they come in rows */
};

/* A thread's decays of the first chunk, which is a row of (batch, chunks, heads); is_w: it has some. */
static __device__ __forceinline__ void decays_of(struct chunk_copies *copies, const struct low_rank_shape *shape,
                                                 bool is_w, const float *gamma, size_t first, unsigned at)
{
    const int lane = threadIdx.x % 32;
    copies->every = shape->decays == 1 ? 0 : 32;
    copies->decays = is_w ? (shape->dk - lane + 31) / 32 : 0;
    copies->decay = gamma + first * shape->decays + (shape->decays == 1 ? 0 : lane);
    copies->gamma = at + lane * 4;
}

/* Asks for a chunk. */
template <int dtype>
static __device__ __forceinline__ void chunk_copies_ask(struct chunk_copies *copies, char *stage)
{
    share_copy<dtype>(&copies->share, stage);
    copies->share.from += copies->next;
#pragma unroll 2
    for (int i = 0; i < copies->decays; i++)
        __pipeline_memcpy_async(stage + copies->gamma + i * 128, copies->decay + i * copies->every, 4);
    copies->decay += copies->decays_next;
}

template <int dtype>
static __device__ __forceinline__ void chunk_copies_store(struct chunk_copies *copies, const char *stage)
{
    if (copies->out == NULL)
        return;
    share_store<dtype>(&copies->share, stage, copies->out);
    copies->out += copies->next;
}

/* W or Y, where they do not come in rows; the thread has waited for them. */
template <int dtype>
static __device__ __forceinline__ void chunk_copies_spread(const struct chunk_copies *copies,
                                                           const struct low_rank_shape *shape, char *stage)
{
    if (dtype != FLOAT32 && copies->raw != copies->rows)
        spread_rows(shape, stage + copies->raw, stage + copies->rows);
}

/* Until at most so many of the thread's last commits are on their way. The instruction takes a constant, so fewer where
   the number is not offered. */
static __device__ __forceinline__ void wait_behind(int most)
{
    if (most >= 4)
        __pipeline_wait_prior(4);
    else if (most == 3)
        __pipeline_wait_prior(3);
    else if (most == 2)
        __pipeline_wait_prior(2);
    else if (most == 1)
        __pipeline_wait_prior(1);
    else
        __pipeline_wait_prior(0);
}

/* The threads that copy: all chunks, one after the other, as far ahead as there are stages. Four warps have h_local,
   one has W and gamma, one Y. Where h_local was, those who compute leave h_out: a thread stores it, and asks for the
   same elements of a later chunk. */
template <int dtype>
static __device__ __forceinline__ void copy_chunks(const struct low_rank_shape *shape, struct place place, char *memory,
                                                   const void *h_local, const float *gamma, const void *W,
                                                   const void *Y, void *h_out)
{
    const int bytes = (int)stored_bytes(dtype), thread = threadIdx.x - LOW_RANK_THREADS, lane = thread % 32;
    const int w_bytes = shape->rank * bytes, x_bytes = (int)min(shape->dv - place.start, (size_t)COLUMNS) * bytes;
    const size_t row = shape->dv * bytes, at = place.zero * shape->dk * row + place.start * bytes;
    const struct stage in = stage_of(shape);
    const bool is_x = thread < LOW_RANK_COPYING - 64, is_w = !is_x && thread < LOW_RANK_COPYING - 32;
    const bool raw = !is_x && shape->raw_bytes != 0;
    const char *const matrix = (const char *)(is_w ? W : Y) + place.zero * shape->dk * w_bytes;
    struct chunk_copies copies;
    copies.rows = is_w ? in.w : in.y;
    copies.raw = raw ? in.raw + (is_w ? 0 : shape->raw_bytes) : copies.rows;
    copies.share = is_x  ? share_of(thread, LOW_RANK_COPYING - 64, (const char *)h_local + at, row, in.x,
                                    X_STRIDE * bytes, shape->dk, x_bytes, shape->x_unit)
                   : raw ? share_of(lane, 32, matrix, shape->raw_unit, copies.raw, shape->raw_unit,
                                    shape->dk * w_bytes / shape->raw_unit, shape->raw_unit, shape->raw_unit)
                         : share_of(lane, 32, matrix, w_bytes, copies.rows, shape->stride * bytes, shape->dk, w_bytes,
                                    shape->w_unit);
    copies.next = shape->heads * shape->dk * (is_x ? row : w_bytes);
    copies.out = is_x ? (char *)h_out + (copies.share.from - (const char *)h_local) : NULL;
    decays_of(&copies, shape, is_w, gamma, place.zero, in.gamma);
    copies.decays_next = shape->heads * shape->decays;
    const size_t chunks = shape->chunks, ahead = min((size_t)shape->stages, chunks);
    struct ring ring = ring_of(shape, memory), come = ring;
    if (shape->stages == 1) { /* they take turns */
        for (size_t k = 0; k < chunks; k++) {
            chunk_copies_ask<dtype>(&copies, ring.stage);
            __pipeline_commit();
            wait_behind(0);
            chunk_copies_spread<dtype>(&copies, shape, ring.stage);
            meet();
            meet();
            chunk_copies_store<dtype>(&copies, ring.stage);
        }
        return;
    }
#pragma unroll 1
    for (size_t k = 0; k < ahead; k++, ring_next(&ring)) {
        chunk_copies_ask<dtype>(&copies, ring.stage);
        __pipeline_commit();
    }
    ring = come;
    wait_behind((int)ahead - 2);
    chunk_copies_spread<dtype>(&copies, shape, come.stage);
    meet(); /* chunk 0 is there */
#pragma unroll 1
    for (size_t k = 0; k < chunks && is_x; k++, ring_next(&ring)) {
        wait_behind((int)ahead - 2);
        meet(); /* chunk k + 1 is there, and k is done */
        share_store<dtype>(&copies.share, ring.stage, copies.out);
        copies.out += copies.next;
        if (k + ahead < chunks)
            share_copy<dtype>(&copies.share, ring.stage);
        copies.share.from += copies.next;
        __pipeline_commit();
    }
    /* the same where nothing is stored */
#pragma unroll 1
    for (size_t k = 0; k < chunks && !is_x; k++, ring_next(&ring)) {
        ring_next(&come);
        wait_behind((int)ahead - 2);
        if (k + 1 < chunks)
            chunk_copies_spread<dtype>(&copies, shape, come.stage);
        meet();
        if (k + ahead < chunks)
            chunk_copies_ask<dtype>(&copies, ring.stage);
        __pipeline_commit();
    }
}

#endif
