/* mma_copy.cuh - how chunks come into the stages of mma.cu, and its results out of them. All warps meet once a chunk,
   in the middle of it, where those who compute must meet anyway to tell each other parts of sums:

       those who compute        the rest of chunk k - 1, the first product of chunk k | the second one ...
       those who copy           wait until chunk k + 1 is there                       | store the results of k - 1,
                                                                                        ask for k - 1 + stages

   So it takes three stages: k, k + 1 and one that is filled. Where only two fit, they meet a second time: first k - 1
   is done, then k + 1 has come. */
#ifndef MMA_COPY_CUH
#define MMA_COPY_CUH

#include "low_rank.cuh"

static __device__ __forceinline__ void meet_all(void)
{
    named_barrier_sync(1, 2 * LOW_RANK_THREADS);
}

/* Those who compute, in the middle of a chunk. */
static __device__ __forceinline__ void meet_in_chunk(int stages)
{
    if (stages == 2)
        meet_all();
    meet_all();
}

/* Until at most so many of the thread's last commits are on their way; fewer where the number is not offered. */
static __device__ __forceinline__ void wait_prior(int most)
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

/* What a copying thread has of each chunk: two warps have h_local and h_out, one W and gamma, one Y. */
struct copies {
    struct share share;
    const float *decay; /* the next chunk's for its rows; NULL: none */
    char *out;          /* NULL: stores nothing */
    size_t next, decays;
    unsigned gamma;
    unsigned raw, rows; /* W or Y as they come, and where they are spread to; the same: they come in rows */
    bool swizzle;       /* 16 bytes of a row are moved to another place of it (wgmma.h) */
};

/* The rows of a thread are all a multiple of eight apart, or of four: then the place changes between two. */
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

template <int dtype>
static __device__ __forceinline__ void copies_ask(struct copies *copies, const struct low_rank_shape *shape,
                                                  char *stage)
{
    if (copies->swizzle)
        rows_swizzle(&copies->share, stage);
    else
        share_copy<dtype>(&copies->share, stage);
    copies->share.from += copies->next;
    if (copies->decay != NULL) {
#pragma unroll 2
        for (int i = threadIdx.x % 32; i < shape->dk; i += 32) /* one for all rows is copied to each */
            __pipeline_memcpy_async(stage + copies->gamma + i * 4, copies->decay + (shape->decays == 1 ? 0 : i), 4);
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

/* W or Y, where they do not come in rows; the thread has waited for them. */
template <int dtype>
static __device__ __forceinline__ void copies_spread(const struct copies *copies, const struct low_rank_shape *shape,
                                                     char *stage)
{
    if (dtype != FLOAT32 && copies->raw != copies->rows)
        spread_rows(shape, stage + copies->raw, stage + copies->rows);
}

/* swizzle: W and Y lie as wgmma.cu needs them (wgmma.h), else in rows of so many elements. */
template <int dtype>
static __device__ __forceinline__ void copy_for_mma(const struct low_rank_shape *shape, struct place place,
                                                    char *memory, const void *h_local, const float *gamma,
                                                    const void *W, const void *Y, void *h_out, bool swizzle)
{
    const int bytes = (int)stored_bytes(dtype), thread = threadIdx.x - LOW_RANK_THREADS, which = thread / 32;
    const int w_bytes = shape->rank * bytes, x_bytes = (int)min(shape->dv - place.start, (size_t)COLUMNS) * bytes;
    const size_t row = shape->dv * bytes, at = place.zero * shape->dk * row + place.start * bytes;
    const struct stage in = stage_of(shape);
    const char *const matrix = (const char *)(which == 2 ? W : Y) + place.zero * shape->dk * w_bytes;
    const bool raw = which >= 2 && shape->raw_bytes != 0;
    struct copies copies;
    copies.rows = which == 2 ? in.w : in.y;
    copies.raw = raw ? in.gamma + shape->gamma_bytes + (which == 2 ? 0 : shape->raw_bytes) : copies.rows;
    copies.share = which < 2 ? share_of(thread, 64, (const char *)h_local + at, row, in.x, X_STRIDE * bytes, shape->dk,
                                        x_bytes, shape->x_unit)
                   : raw     ? share_of(thread % 32, 32, matrix, shape->raw_unit, copies.raw, shape->raw_unit,
                                        shape->dk * w_bytes / shape->raw_unit, shape->raw_unit, shape->raw_unit)
                             : share_of(thread % 32, 32, matrix, w_bytes, copies.rows, shape->stride * bytes, shape->dk,
                                        w_bytes, shape->w_unit);
    copies.swizzle = swizzle && which >= 2;
    copies.share.to ^= copies.swizzle ? copies.share.to / 128 % 8 * 16 : 0;
    copies.next = shape->heads * shape->dk * (which < 2 ? row : w_bytes);
    copies.out = which < 2 ? (char *)h_out + (copies.share.from - (const char *)h_local) : NULL;
    copies.decay = which == 2 ? gamma + place.zero * shape->decays : NULL;
    copies.decays = shape->heads * shape->decays;
    copies.gamma = in.gamma;
    struct ring ring = ring_of(shape, memory), come = ring;
    const size_t ahead = ring.count == 2 ? 1 : ring.count - 1;
    for (size_t k = 0; k < ahead; k++, ring_next(&ring)) {
        if (k < shape->chunks)
            copies_ask<dtype>(&copies, shape, ring.stage);
        __pipeline_commit();
    }
    wait_prior((int)ahead - 1);
    copies_spread<dtype>(&copies, shape, come.stage);
    meet_all(); /* chunk 0 is there */
    for (size_t k = 0; k < shape->chunks; k++, ring_next(&ring)) {
        ring_next(&come);
        if (ring.count == 2) {
            meet_all(); /* k - 1 is done */
        } else {
            wait_prior(ring.count - 3);
            copies_spread<dtype>(&copies, shape, come.stage);
            meet_all(); /* k + 1 is there, and k - 1 is done */
        }
        if (k != 0)
            copies_store<dtype>(&copies, ring.stage);
        if (k + ahead < shape->chunks)
            copies_ask<dtype>(&copies, shape, ring.stage);
        __pipeline_commit();
        if (ring.count == 2) {
            wait_prior(0);
            copies_spread<dtype>(&copies, shape, come.stage);
            meet_all(); /* k + 1 is there */
        }
    }
    meet_all(); /* the last chunk is done */
    copies_store<dtype>(&copies, ring.stage);
}

#endif
