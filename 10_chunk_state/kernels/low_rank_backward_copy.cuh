/* SPDX-License-Identifier: MIT */
/* low_rank_backward_copy.cuh - the producer warps of low_rank_backward.cu: how chunks come into its stages, and its
   results out of them. A block goes through the chunks from the last to the first, in steps with a barrier of all warps
   between:

       step          0        1        2        3 ...
       consumers     chunk 9  chunk 8  chunk 7            a stage is filled again two steps after the consumers have had
       summing warps          chunk 9  chunk 8            it: there must be three at least
       producers                       chunk 9            store d_h_local, ask for a later chunk

   Where only one or two fit, they take turns with one stage. */
#ifndef LOW_RANK_BACKWARD_COPY_CUH
#define LOW_RANK_BACKWARD_COPY_CUH

#include "low_rank_copy.cuh"

enum {
    LOW_RANK_SUMMING = 128, /* threads of a block of low_rank_backward.cu that add up over columns, */
    BACK_X = 32,
    BACK_H = 32, /* that copy d_h_out and d_h_local, and the states; 32 each copy W and Y */
    LOW_RANK_BACK_THREADS = LOW_RANK_CONSUMERS + LOW_RANK_SUMMING + BACK_X + BACK_H + 64,
};

/* The parts of a stage, in bytes from its beginning. x: d_h_out, and what becomes d_h_local; d the same in float32; h:
   the state before the chunk; p, q: sums over rows, one behind the other those of the 8 columns of a warp; raw: W and Y
   as they come. */
struct low_rank_back_stage {
    unsigned x, h, d, w, y, gamma, p, q, raw;
};

template <int dtype>
static __device__ __forceinline__ struct low_rank_back_stage low_rank_back_stage_of(const struct low_rank_plan *plan)
{
    const unsigned h = plan->x_bytes, d = dtype == FLOAT32 ? 0 : 2 * h, w = dtype == FLOAT32 ? 2 * h : 4 * h;
    const unsigned y = w + plan->w_bytes, gamma = y + plan->w_bytes, p = gamma + plan->gamma_bytes;
    const unsigned q = p + plan->padded * BLOCK_COLUMNS * (unsigned)sizeof(float);
    const struct low_rank_back_stage stage = {0, h, d, w, y, gamma, p, q, q + (q - p)};
    return stage;
}

/* The producer warps. stride: elements from row to row of a state in a stage. If exclusive, d_h_out of a chunk joins
   d_h behind it, and so is brought with the chunk before. */
template <int dtype>
static __device__ __forceinline__ void low_rank_back_copy(const struct low_rank_plan *plan, struct low_rank_block block,
                                                          char *memory, int stride, bool exclusive, const void *states,
                                                          const float *gamma, const void *W, const void *Y,
                                                          const void *d_h_out, void *d_h_local)
{
    const int bytes = (int)element_bytes(dtype), thread = threadIdx.x - LOW_RANK_CONSUMERS - LOW_RANK_SUMMING;
    const int lane = thread % 32, w_bytes = plan->rank * bytes;
    const int x_bytes = (int)min(plan->dv - block.start, (size_t)BLOCK_COLUMNS) * bytes;
    const bool is_x = thread < BACK_X, is_h = !is_x && thread < BACK_X + BACK_H;
    const bool is_w = !is_x && !is_h && thread < BACK_X + BACK_H + 32;
    const bool raw = !is_x && !is_h && plan->raw_bytes != 0;
    const size_t row = plan->dv * bytes, last = block.zero + (block.chunks - 1) * plan->heads;
    const size_t at = last * plan->dk * row + block.start * bytes, chunks = block.chunks;
    const struct low_rank_back_stage in = low_rank_back_stage_of<dtype>(plan);
    const char *const matrix = (const char *)(is_w ? W : Y) + last * plan->dk * w_bytes;
    struct chunk_copies copies;
    copies.rows = is_w ? in.w : in.y;
    copies.raw = raw ? in.raw + (is_w ? 0 : plan->raw_bytes) : copies.rows;
    copies.share = is_x   ? share_of(thread, BACK_X, (const char *)d_h_out + at, row, in.x, stride * bytes, plan->dk,
                                     x_bytes, plan->x_vector)
                   : is_h ? share_of(thread - BACK_X, BACK_H, (const char *)states + at, row, in.h, stride * bytes,
                                     plan->dk, x_bytes, plan->x_vector)
                   : raw  ? share_of(lane, 32, matrix, plan->raw_vector, copies.raw, plan->raw_vector,
                                     plan->dk * w_bytes / plan->raw_vector, plan->raw_vector, plan->raw_vector)
                          : share_of(lane, 32, matrix, w_bytes, copies.rows, plan->stride * bytes, plan->dk, w_bytes,
                                     plan->w_vector);
    copies.next = -(ptrdiff_t)(plan->heads * plan->dk * (is_x || is_h ? row : (size_t)w_bytes));
    copies.out = is_x ? (char *)d_h_local + (copies.share.from - (const char *)d_h_out) : NULL;
    decays_of(&copies, plan, is_w, gamma, last, in.gamma);
    copies.decays_next = -(ptrdiff_t)(plan->heads * plan->decays);
    const bool later =
        is_x && exclusive; /* it brings a chunk's d_h_out with the chunk before, and none with the last */
    copies.share.from -= later ? copies.next : 0;
    const size_t ahead = min((size_t)plan->stages, chunks);
    struct stages stages = stages_of(plan, memory), arriving = stages;
    if (plan->stages == 1) { /* all take turns */
        for (size_t k = 0; k < chunks; k++) {
            if (later && k == 0)
                copies.share.from += copies.next;
            else
                chunk_copies_issue<dtype>(&copies, stages.current);
            __pipeline_commit();
            cp_async_wait<4>(0);
            matrix_spread<dtype>(plan, copies.raw, copies.rows, stages.current);
            barrier_all<LOW_RANK_BACK_THREADS>(); /* it is there */
            barrier_all<LOW_RANK_BACK_THREADS>();
            barrier_all<LOW_RANK_BACK_THREADS>(); /* it is done */
            chunk_copies_store<dtype>(&copies, stages.current);
        }
        return;
    }
#pragma unroll 1
    for (size_t k = 0; k < ahead; k++, stages_next(&stages)) {
        if (later && k == 0)
            copies.share.from += copies.next;
        else
            chunk_copies_issue<dtype>(&copies, stages.current);
        __pipeline_commit();
    }
    stages = arriving;
    for (size_t k = 0; k < 2; k++, stages_next(&arriving)) {
        cp_async_wait<4>((int)ahead - 3);
        if (k < chunks)
            matrix_spread<dtype>(plan, copies.raw, copies.rows, arriving.current);
        barrier_all<LOW_RANK_BACK_THREADS>(); /* chunk k, in the order in which they come, is there */
    }
#pragma unroll 1
    for (size_t k = 0; k < chunks && is_x; k++, stages_next(&stages)) {
        cp_async_wait<4>((int)ahead - 3);
        barrier_all<LOW_RANK_BACK_THREADS>(); /* chunk k + 2 is there, and k is done */
        share_store<dtype>(&copies.share, stages.current, copies.out);
        copies.out += copies.next;
        if (k + ahead < chunks)
            share_copy<dtype>(&copies.share, stages.current);
        copies.share.from += copies.next;
        __pipeline_commit();
    }
#pragma unroll 1
    for (size_t k = 0; k < chunks && !is_x; k++, stages_next(&stages)) { /* the same where nothing is stored */
        cp_async_wait<4>((int)ahead - 3);
        if (k + 2 < chunks)
            matrix_spread<dtype>(plan, copies.raw, copies.rows, arriving.current);
        stages_next(&arriving);
        barrier_all<LOW_RANK_BACK_THREADS>();
        if (k + ahead < chunks)
            chunk_copies_issue<dtype>(&copies, stages.current);
        __pipeline_commit();
    }
}

#endif
