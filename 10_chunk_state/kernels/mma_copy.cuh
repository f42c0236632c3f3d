/* SPDX-License-Identifier: MIT */
/* mma_copy.cuh - the producer warps of mma.cu and wgmma.cu: how chunks come into their stages, and results out of them.
   There is one barrier of all warps a chunk, in the middle of it, where the consumers need one anyway to tell each
   other parts of sums:

                                                                         barrier
       consumers     the rest of chunk k - 1, the first product of chunk k  |  the second one ...
       producers     wait until chunk k + 1 is there                        |  store the results of k - 1,
                                                                            |  ask for k - 1 + stages

   So it takes three stages: k, k + 1 and one that is filled. Where only two fit, there is a second barrier: first k - 1
   is done, then k + 1 has come. */
#ifndef MMA_COPY_CUH
#define MMA_COPY_CUH

#include "copy_rows.cuh"
#include "low_rank_stage.cuh"

/* The consumers, in the middle of a chunk. */
static __device__ __forceinline__ void barrier_in_chunk(int stages)
{
    if (stages == 2)
        barrier_all<MMA_THREADS>();
    barrier_all<MMA_THREADS>();
}

/* What a producer thread copies of each chunk: two warps have h_local and h_out, one W and gamma, one Y. */
struct copies {
    struct share share;
    const float *decay;     /* the next chunk's for its rows; NULL: none */
    char *out;              /* NULL: stores nothing */
    ptrdiff_t next, decays; /* to the next chunk's */
    unsigned gamma;
    unsigned raw, rows; /* W or Y as they come, and where they are spread to; the same: they come in rows */
    bool swizzle;       /* 16 bytes of a row are moved to another place of it (wgmma.h) */
};

/* The rows of a thread are all a multiple of eight apart, or of four: then the swizzle changes between two. */
static __device__ __forceinline__ void rows_swizzle(const struct share *share, char *stage)
{
    const unsigned change = share->to_row % 1024 == 0 ? 0 : 64;
    const char *from = share->from;
    unsigned to = share->to;
#pragma unroll 4
    for (int row = 0; row < share->rows; row++) {
        __pipeline_memcpy_async(stage + to, from, 16);
        to = (to ^ change) + share->to_row, from += share->row;
    }
}

/* zeros: the rows of this chunk are 0. */
template <int dtype>
static __device__ __forceinline__ void copies_issue(struct copies *copies, const struct low_rank_plan *plan,
                                                    char *stage, bool zeros)
{
    if (zeros)
        share_clear(&copies->share, stage);
    else if (copies->swizzle)
        rows_swizzle(&copies->share, stage);
    else
        share_copy<dtype>(&copies->share, stage);
    copies->share.from += copies->next;
    if (copies->decay != NULL) {
#pragma unroll 2
        for (int i = threadIdx.x % 32; i < plan->dk; i += 32) /* one for all rows is copied to each */
            __pipeline_memcpy_async(stage + copies->gamma + i * 4, copies->decay + (plan->decays == 1 ? 0 : i), 4);
        copies->decay += copies->decays;
    }
}

template <int dtype>
static __device__ __forceinline__ void copies_store(struct copies *copies, const char *stage)
{
    if (copies->out == NULL)
        return;
    share_store<dtype>(&copies->share, stage, copies->out);
    copies->out += copies->next;
}

/* Which row of (batch, chunks, heads) a block begins with: its first chunk or, backward, its last one. */
template <bool backward>
static __device__ __forceinline__ size_t block_first(const struct low_rank_plan *plan, struct low_rank_block block)
{
    return backward && block.chunks != 0 ? block.zero + (block.chunks - 1) * plan->heads : block.zero;
}

/* Of what a block writes backward in float32 for 16 bits: where its first tile begins, and how far behind the one of
   the chunk before (mma_back.h). */
template <int rows>
static __device__ __forceinline__ size_t back_tile(const struct low_rank_plan *plan, struct low_rank_block block)
{
    return (block_first<true>(plan, block) * plan->slices + blockIdx.x % plan->slices) * rows * BLOCK_COLUMNS;
}

template <int rows>
static __device__ __forceinline__ size_t back_step(const struct low_rank_plan *plan)
{
    return plan->heads * plan->slices * rows * BLOCK_COLUMNS;
}

/* backward: from the last chunk to the first. Unless exclusive, h_local of a chunk joins the state behind it then, and
   so is brought with the chunk that comes before it in this order; with the last one come zeros. swizzle: W and Y lie
   as wgmma.cu needs them (wgmma.h), else in rows of so many elements. */
template <int dtype, bool backward>
static __device__ __forceinline__ void
mma_copy_chunks(const struct low_rank_plan *plan, struct low_rank_block block, char *memory, bool exclusive,
                const void *h_local, const float *gamma, const void *W, const void *Y, void *h_out, bool swizzle)
{
    const int bytes = (int)element_bytes(dtype), thread = threadIdx.x - LOW_RANK_CONSUMERS, which = thread / 32;
    const int w_bytes = plan->rank * bytes, x_bytes = (int)min(plan->dv - block.start, (size_t)BLOCK_COLUMNS) * bytes;
    const size_t first = block_first<backward>(plan, block), row = plan->dv * bytes;
    const size_t at = first * plan->dk * row + block.start * bytes;
    const struct low_rank_stage in = low_rank_stage_of(plan);
    const char *const matrix = (const char *)(which == 2 ? W : Y) + first * plan->dk * w_bytes;
    const ptrdiff_t heads = backward ? -(ptrdiff_t)plan->heads : (ptrdiff_t)plan->heads;
    const bool early = backward && !exclusive && which < 2;
    const bool raw = which >= 2 && plan->raw_bytes != 0;
    struct copies copies;
    copies.rows = which == 2 ? in.w : in.y;
    copies.raw = raw ? in.gamma + plan->gamma_bytes + (which == 2 ? 0 : plan->raw_bytes) : copies.rows;
    copies.share = which < 2 ? share_of(thread, 64, (const char *)h_local + at, row, in.x, X_STRIDE * bytes, plan->dk,
                                        x_bytes, plan->x_vector)
                   : raw     ? share_of(thread % 32, 32, matrix, plan->raw_vector, copies.raw, plan->raw_vector,
                                        plan->dk * w_bytes / plan->raw_vector, plan->raw_vector, plan->raw_vector)
                             : share_of(thread % 32, 32, matrix, w_bytes, copies.rows, plan->stride * bytes, plan->dk,
                                        w_bytes, plan->w_vector);
    copies.swizzle = swizzle && which >= 2;
    copies.share.to ^= copies.swizzle ? copies.share.to / 128 % 8 * 16 : 0;
    copies.next = heads * plan->dk * (ptrdiff_t)(which < 2 ? row : w_bytes);
    copies.out = which < 2 ? (char *)h_out + (copies.share.from - (const char *)h_local) : NULL;
    copies.share.from += early ? copies.next : 0;
    copies.decay = which == 2 ? gamma + first * plan->decays : NULL;
    copies.decays = heads * plan->decays;
    copies.gamma = in.gamma;
    struct stages stages = stages_of(plan, memory), arriving = stages;
    const size_t ahead = stages.count == 2 ? 1 : stages.count - 1;
    for (size_t k = 0; k < ahead; k++, stages_next(&stages)) {
        if (k < block.chunks)
            copies_issue<dtype>(&copies, plan, stages.current, early && k + 1 == block.chunks);
        __pipeline_commit();
    }
    cp_async_wait<3>((int)ahead - 1);
    matrix_spread<dtype>(plan, copies.raw, copies.rows, arriving.current);
    barrier_all<MMA_THREADS>(); /* chunk 0 is there */
    for (size_t k = 0; k < block.chunks; k++, stages_next(&stages)) {
        stages_next(&arriving);
        if (stages.count == 2) {
            barrier_all<MMA_THREADS>(); /* k - 1 is done */
        } else {
            cp_async_wait<3>(stages.count - 3);
            matrix_spread<dtype>(plan, copies.raw, copies.rows, arriving.current);
            barrier_all<MMA_THREADS>(); /* k + 1 is there, and k - 1 is done */
        }
        if (k != 0)
            copies_store<dtype>(&copies, stages.current);
        if (k + ahead < block.chunks)
            copies_issue<dtype>(&copies, plan, stages.current, early && k + ahead + 1 == block.chunks);
        __pipeline_commit();
        if (stages.count == 2) {
            cp_async_wait<3>(0);
            matrix_spread<dtype>(plan, copies.raw, copies.rows, arriving.current);
            barrier_all<MMA_THREADS>(); /* k + 1 is there */
        }
    }
    barrier_all<MMA_THREADS>(); /* the last chunk is done */
    if (block.chunks != 0)
        copies_store<dtype>(&copies, stages.current);
}

#endif
