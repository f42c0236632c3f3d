/* SPDX-License-Identifier: MIT */
/* low_rank_copy.cuh - the producer warps of low_rank.cu, and what low_rank_backward.cu has in common with them: how
   chunks come into its stages, and its results out of them. */
#ifndef LOW_RANK_COPY_CUH
#define LOW_RANK_COPY_CUH

#include "copy_rows.cuh"
#include "low_rank_stage.cuh"

/* What a producer thread copies of each chunk. */
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
static __device__ __forceinline__ void decays_of(struct chunk_copies *copies, const struct low_rank_plan *plan,
                                                 bool is_w, const float *gamma, size_t first, unsigned at)
{
    const int lane = threadIdx.x % 32;
    copies->every = plan->decays == 1 ? 0 : 32;
    copies->decays = is_w ? (plan->dk - lane + 31) / 32 : 0;
    copies->decay = gamma + first * plan->decays + (plan->decays == 1 ? 0 : lane);
    copies->gamma = at + lane * 4;
}

/* Asks for a chunk. */
template <int dtype>
static __device__ __forceinline__ void chunk_copies_issue(struct chunk_copies *copies, char *stage)
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

/* The producer warps: all chunks, one after the other, as many of them early as there are stages. Four warps have
   h_local, one has W and gamma, one Y. Where h_local was, the consumers leave h_out: a thread stores it, and asks for
   the same elements of a later chunk. */
template <int dtype>
static __device__ __forceinline__ void
low_rank_copy_chunks(const struct low_rank_plan *plan, struct low_rank_block block, char *memory, const void *h_local,
                     const float *gamma, const void *W, const void *Y, void *h_out)
{
    const int bytes = (int)element_bytes(dtype), thread = threadIdx.x - LOW_RANK_CONSUMERS, lane = thread % 32;
    const int w_bytes = plan->rank * bytes, x_bytes = (int)min(plan->dv - block.start, (size_t)BLOCK_COLUMNS) * bytes;
    const size_t row = plan->dv * bytes, at = block.zero * plan->dk * row + block.start * bytes;
    const struct low_rank_stage in = low_rank_stage_of(plan);
    const bool is_x = thread < LOW_RANK_PRODUCERS - 64, is_w = !is_x && thread < LOW_RANK_PRODUCERS - 32;
    const bool raw = !is_x && plan->raw_bytes != 0;
    const char *const matrix = (const char *)(is_w ? W : Y) + block.zero * plan->dk * w_bytes;
    struct chunk_copies copies;
    copies.rows = is_w ? in.w : in.y;
    copies.raw = raw ? in.raw + (is_w ? 0 : plan->raw_bytes) : copies.rows;
    copies.share = is_x  ? share_of(thread, LOW_RANK_PRODUCERS - 64, (const char *)h_local + at, row, in.x,
                                    X_STRIDE * bytes, plan->dk, x_bytes, plan->x_vector)
                   : raw ? share_of(lane, 32, matrix, plan->raw_vector, copies.raw, plan->raw_vector,
                                    plan->dk * w_bytes / plan->raw_vector, plan->raw_vector, plan->raw_vector)
                         : share_of(lane, 32, matrix, w_bytes, copies.rows, plan->stride * bytes, plan->dk, w_bytes,
                                    plan->w_vector);
    copies.next = plan->heads * plan->dk * (is_x ? row : w_bytes);
    copies.out = is_x ? (char *)h_out + (copies.share.from - (const char *)h_local) : NULL;
    decays_of(&copies, plan, is_w, gamma, block.zero, in.gamma);
    copies.decays_next = plan->heads * plan->decays;
    const size_t chunks = block.chunks, ahead = min((size_t)plan->stages, chunks);
    struct stages stages = stages_of(plan, memory), arriving = stages;
    if (plan->stages == 1) { /* producers and consumers take turns */
        for (size_t k = 0; k < chunks; k++) {
            chunk_copies_issue<dtype>(&copies, stages.current);
            __pipeline_commit();
            cp_async_wait<4>(0);
            matrix_spread<dtype>(plan, copies.raw, copies.rows, stages.current);
            barrier_all<LOW_RANK_THREADS>();
            barrier_all<LOW_RANK_THREADS>();
            chunk_copies_store<dtype>(&copies, stages.current);
        }
        return;
    }
#pragma unroll 1
    for (size_t k = 0; k < ahead; k++, stages_next(&stages)) {
        chunk_copies_issue<dtype>(&copies, stages.current);
        __pipeline_commit();
    }
    stages = arriving;
    cp_async_wait<4>((int)ahead - 2);
    matrix_spread<dtype>(plan, copies.raw, copies.rows, arriving.current);
    barrier_all<LOW_RANK_THREADS>(); /* chunk 0 is there */
    /* [store] The warps of h_local: out with the results of chunk k, and in with a later chunk. */
#pragma unroll 1
    for (size_t k = 0; k < chunks && is_x; k++, stages_next(&stages)) {
        cp_async_wait<4>((int)ahead - 2);
        barrier_all<LOW_RANK_THREADS>(); /* chunk k + 1 is there, and k is done */
        share_store<dtype>(&copies.share, stages.current, copies.out);
        copies.out += copies.next;
        if (k + ahead < chunks)
            share_copy<dtype>(&copies.share, stages.current);
        copies.share.from += copies.next;
        __pipeline_commit();
    }
    /* [others] The same where nothing is stored. */
#pragma unroll 1
    for (size_t k = 0; k < chunks && !is_x; k++, stages_next(&stages)) {
        stages_next(&arriving);
        cp_async_wait<4>((int)ahead - 2);
        if (k + 1 < chunks)
            matrix_spread<dtype>(plan, copies.raw, copies.rows, arriving.current);
        barrier_all<LOW_RANK_THREADS>();
        if (k + ahead < chunks)
            chunk_copies_issue<dtype>(&copies, stages.current);
        __pipeline_commit();
    }
}

#endif
