/* low_rank_backward.cuh - how chunks come into the stages of low_rank_backward.cu, and its results out of them. A block
   goes through the chunks from the last to the first, in steps, between which all of its warps meet:

       step          0        1        2        3 ...
       computing     chunk 9  chunk 8  chunk 7            a stage is filled again two steps after those who compute
       summing                chunk 9  chunk 8            have had it: there must be three at least
       copying                         chunk 9            stores d_h_local, asks for a later chunk

   Where only one or two fit, the tasks take turns with one stage. */
#ifndef LOW_RANK_BACKWARD_CUH
#define LOW_RANK_BACKWARD_CUH

#include "low_rank.cuh"

enum {
    LOW_RANK_SUMMING = 128, /* threads of a block of low_rank_backward.cu that add up over columns, */
    BACK_X = 32,
    BACK_H = 32, /* that copy d_h_out and d_h_local, and the states; 32 each copy W and Y */
    LOW_RANK_BACK_THREADS = LOW_RANK_THREADS + LOW_RANK_SUMMING + BACK_X + BACK_H + 64,
};

/* The parts of a stage, in bytes from its beginning. x: d_h_out, and what becomes d_h_local; d the same in float32; h:
   the state before the chunk; p, q: sums over rows, one behind the other those of the 8 columns of a warp; raw: W and Y
   as they come. */
struct back_stage {
    unsigned x, h, d, w, y, gamma, p, q, raw;
};

template <int dtype>
static __device__ __forceinline__ struct back_stage back_stage_of(const struct low_rank_shape *shape)
{
    const unsigned h = shape->x_bytes, d = dtype == FLOAT32 ? 0 : 2 * h, w = dtype == FLOAT32 ? 2 * h : 4 * h;
    const unsigned y = w + shape->w_bytes, gamma = y + shape->w_bytes, p = gamma + shape->gamma_bytes;
    const unsigned q = p + shape->padded * COLUMNS * (unsigned)sizeof(float);
    const struct back_stage stage = {0, h, d, w, y, gamma, p, q, q + (q - p)};
    return stage;
}

/* Between two steps: chunks have come, d_h and sums over rows are there, and a chunk is summed. */
static __device__ __forceinline__ void meet_back(void)
{
    named_barrier_sync(1, LOW_RANK_BACK_THREADS);
}

/* The threads that copy. stride: elements from row to row of a state in a stage. If exclusive, d_h_out of a chunk joins
   d_h behind it, and so is brought with the chunk before. */
template <int dtype>
static __device__ __forceinline__ void copy_back(const struct low_rank_shape *shape, struct place place, char *memory,
                                                 int stride, bool exclusive, const void *states, const float *gamma,
                                                 const void *W, const void *Y, const void *d_h_out, void *d_h_local)
{
    const int bytes = (int)stored_bytes(dtype), thread = threadIdx.x - LOW_RANK_THREADS - LOW_RANK_SUMMING;
    const int lane = thread % 32, w_bytes = shape->rank * bytes;
    const int x_bytes = (int)min(shape->dv - place.start, (size_t)COLUMNS) * bytes;
    const bool is_x = thread < BACK_X, is_h = !is_x && thread < BACK_X + BACK_H;
    const bool is_w = !is_x && !is_h && thread < BACK_X + BACK_H + 32;
    const bool raw = !is_x && !is_h && shape->raw_bytes != 0;
    const size_t row = shape->dv * bytes, last = place.zero + (shape->chunks - 1) * shape->heads;
    const size_t at = last * shape->dk * row + place.start * bytes, chunks = shape->chunks;
    const struct back_stage in = back_stage_of<dtype>(shape);
    const char *const matrix = (const char *)(is_w ? W : Y) + last * shape->dk * w_bytes;
    struct chunk_copies copies;
    copies.rows = is_w ? in.w : in.y;
    copies.raw = raw ? in.raw + (is_w ? 0 : shape->raw_bytes) : copies.rows;
    copies.share = is_x   ? share_of(thread, BACK_X, (const char *)d_h_out + at, row, in.x, stride * bytes, shape->dk,
                                     x_bytes, shape->x_unit)
                   : is_h ? share_of(thread - BACK_X, BACK_H, (const char *)states + at, row, in.h, stride * bytes,
                                     shape->dk, x_bytes, shape->x_unit)
                   : raw  ? share_of(lane, 32, matrix, shape->raw_unit, copies.raw, shape->raw_unit,
                                     shape->dk * w_bytes / shape->raw_unit, shape->raw_unit, shape->raw_unit)
                          : share_of(lane, 32, matrix, w_bytes, copies.rows, shape->stride * bytes, shape->dk, w_bytes,
                                     shape->w_unit);
    copies.next = -(ptrdiff_t)(shape->heads * shape->dk * (is_x || is_h ? row : (size_t)w_bytes));
    copies.out = is_x ? (char *)d_h_local + (copies.share.from - (const char *)d_h_out) : NULL;
    decays_of(&copies, shape, is_w, gamma, last, in.gamma);
    copies.decays_next = -(ptrdiff_t)(shape->heads * shape->decays);
    const bool later =
        is_x && exclusive; /* it brings a chunk's d_h_out with the chunk before, and none with the last */
    copies.share.from -= later ? copies.next : 0;
    const size_t ahead = min((size_t)shape->stages, chunks);
    struct ring ring = ring_of(shape, memory), come = ring;
    if (shape->stages == 1) { /* they take turns */
        for (size_t k = 0; k < chunks; k++) {
            if (later && k == 0)
                copies.share.from += copies.next;
            else
                chunk_copies_ask<dtype>(&copies, ring.stage);
            __pipeline_commit();
            wait_behind(0);
            chunk_copies_spread<dtype>(&copies, shape, ring.stage);
            meet_back(); /* it is there */
            meet_back();
            meet_back(); /* it is done */
            chunk_copies_store<dtype>(&copies, ring.stage);
        }
        return;
    }
#pragma unroll 1
    for (size_t k = 0; k < ahead; k++, ring_next(&ring)) {
        if (later && k == 0)
            copies.share.from += copies.next;
        else
            chunk_copies_ask<dtype>(&copies, ring.stage);
        __pipeline_commit();
    }
    ring = come;
    for (size_t k = 0; k < 2; k++, ring_next(&come)) {
        wait_behind((int)ahead - 3);
        if (k < chunks)
            chunk_copies_spread<dtype>(&copies, shape, come.stage);
        meet_back(); /* chunk k, in the order in which they come, is there */
    }
#pragma unroll 1
    for (size_t k = 0; k < chunks && is_x; k++, ring_next(&ring)) {
        wait_behind((int)ahead - 3);
        meet_back(); /* chunk k + 2 is there, and k is done */
        share_store<dtype>(&copies.share, ring.stage, copies.out);
        copies.out += copies.next;
        if (k + ahead < chunks)
            share_copy<dtype>(&copies.share, ring.stage);
        copies.share.from += copies.next;
        __pipeline_commit();
    }
#pragma unroll 1
    for (size_t k = 0; k < chunks && !is_x; k++, ring_next(&ring)) { /* the same where nothing is stored */
        wait_behind((int)ahead - 3);
        if (k + 2 < chunks)
            chunk_copies_spread<dtype>(&copies, shape, come.stage);
        ring_next(&come);
        meet_back();
        if (k + ahead < chunks)
            chunk_copies_ask<dtype>(&copies, ring.stage);
        __pipeline_commit();
    }
}

#endif
