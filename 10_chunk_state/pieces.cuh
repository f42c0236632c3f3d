/* pieces.cuh - how the kernels with the copy engine cut their arrays. A batch's chunk is a row of `columns` elements
   (chunk_state.h). A slice is a few KB of it, the same in every chunk; a piece is a slice of STEPS chunks, one after
   the other, and what one stage of shared memory holds:

                  slice 0   slice 1   slice 2   ...
       chunk 0   |---------|#########|---------|---        # a piece: STEPS copies of a slice's bytes
       chunk 1   |---------|#########|---------|---
       ...
       chunk 8   |---------|---------|---------|---

   Slices end where a decay's columns end: they hold whole ones, or an equal part of one. A piece's decays come with it,
   behind its elements: a few bytes at any multiple of four, which the copy engine does not take, so cp.async does. */
#ifndef PIECES_CUH
#define PIECES_CUH

#include <bulk_copy.h>
#include <cuda_pipeline.h>

#include "chunk_state.h"
#include "stored.cuh"

/* A slice of some chunks. */
struct piece {
    unsigned item;     /* batch * slices + slice; past the last one there is no piece */
    unsigned start;    /* its first column */
    size_t first, row; /* its first chunk, and that counted through all batches */
    size_t state;      /* of its first column in (batch, columns) */
    int columns, chunks, decays;
};

/* The piece of an item that begins with chunk `first` and ends before `end`, or STEPS chunks later. */
static __device__ __forceinline__ struct piece piece_of(const struct pieces_shape *shape, size_t item, size_t first,
                                                        size_t end)
{
    const struct cut *const cut = &shape->cut;
    struct piece piece = {shape->items, 0, 0, 0, 0, 0, 0, 0};
    if (item >= shape->items)
        return piece;
    const unsigned batch = (unsigned)item / cut->slices, slice = (unsigned)item % cut->slices;
    const unsigned part = slice % cut->parts;
    piece.item = (unsigned)item;
    piece.start = slice / cut->parts * cut->unit + part * cut->width;
    piece.columns =
        (int)min(cut->width, cut->parts == 1 ? cut->columns - piece.start : cut->per_decay - part * cut->width);
    piece.decays = cut->parts == 1 ? piece.columns / (int)cut->per_decay : 1;
    piece.first = first;
    piece.row = batch * shape->flat.chunks + first;
    piece.state = batch * shape->flat.columns + piece.start;
    piece.chunks = first < end ? (int)min(end - first, (size_t)STEPS) : 0;
    return piece;
}

/* The block's next piece: of later chunks, or of the first ones of its next item. */
static __device__ __forceinline__ void piece_next(const struct pieces_shape *shape, struct piece *piece)
{
    piece->first += STEPS;
    piece->row += STEPS;
    if (piece->first >= shape->flat.chunks)
        *piece = piece_of(shape, (size_t)piece->item + gridDim.x, 0, shape->flat.chunks);
    else
        piece->chunks = (int)min(shape->flat.chunks - piece->first, (size_t)STEPS);
}

/* The block's first piece, which is of the last chunks, and its next one. */
static __device__ __forceinline__ struct piece piece_last(const struct pieces_shape *shape, size_t item)
{
    return piece_of(shape, item, (shape->flat.chunks - 1) / STEPS * STEPS, shape->flat.chunks);
}

static __device__ __forceinline__ void piece_before(const struct pieces_shape *shape, struct piece *piece)
{
    if (piece->first == 0) {
        *piece = piece_last(shape, (size_t)piece->item + gridDim.x);
        return;
    }
    piece->first -= STEPS;
    piece->row -= STEPS;
    piece->chunks = STEPS;
}

/* A piece's copies are asked for by STEPS threads, spread over as many warps as there are: with one thread for all of
   them a launch of an earlier version took 88 us in place of 79 (single runs on an H200). Why one is slower was not
   measured. The barrier of a stage waits for these threads. */
static __device__ __forceinline__ void barriers_init(uint64_t *arrived, int stages)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; s++)
            mbarrier_init(&arrived[s], STEPS);
        mbarrier_init_done();
    }
    __syncthreads(); /* the barriers are there for all */
}

/* Asks the copy engine for a piece of num_arrays arrays, one or two. All threads call it. */
template <int storage, int num_arrays>
static __device__ __forceinline__ void piece_load(const void *array, const void *second,
                                                  const struct pieces_shape *shape, const struct piece *piece,
                                                  char *stage, uint64_t *arrived)
{
    const unsigned apart = blockDim.x / STEPS, s = threadIdx.x / apart;
    const unsigned bytes = piece->columns * (unsigned)stored_bytes(storage);
    const size_t from = ((piece->row + s) * shape->flat.columns + piece->start) * stored_bytes(storage);
    char *const to = stage + s * shape->cut.width * stored_bytes(storage);
    if (threadIdx.x % apart != 0)
        return;
    if ((int)s >= piece->chunks) {
        mbarrier_arrive(arrived);
        return;
    }
    mbarrier_expect(arrived, num_arrays * bytes);
    bulk_load(to, (const char *)array + from, bytes, arrived);
    if (num_arrays == 2)
        bulk_load(to + shape->piece_bytes, (const char *)second + from, bytes, arrived);
}

/* Asks for a piece's decays. All threads call it; each waits for its own part, and a barrier shows it to the others. */
static __device__ __forceinline__ void decays_load(const float *gamma, const struct pieces_shape *shape,
                                                   const struct piece *piece, char *stage)
{
    const unsigned decays = piece->decays;
    float *const to = (float *)(stage + shape->decays_at);
    const float *const from = gamma + piece->row * shape->flat.decays + piece->start / shape->cut.per_decay;
    for (unsigned i = threadIdx.x; i < piece->chunks * decays; i += blockDim.x)
        __pipeline_memcpy_async(to + i, from + i / decays * shape->flat.decays + i % decays, 4);
}

/* Which of a piece's decays the thread's four columns have. */
static __device__ __forceinline__ int decay_of(const struct pieces_shape *shape)
{
    return shape->cut.parts == 1 ? (int)(threadIdx.x * 4 / shape->cut.per_decay) : 0;
}

/* Take the thread's four columns `own` ... of a piece from its stage, and their decays. There are no branches around
   the loads, so all of them are on their way at once; chunks past the piece's last one change nothing. */
template <int storage>
static __device__ __forceinline__ void piece_take(const struct pieces_shape *shape, const struct piece *piece,
                                                  const char *stage, int own, float (*x)[4])
{
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        read4<storage>(stage, s * shape->cut.width + own, x[s]);
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            x[s][c] = s < piece->chunks ? x[s][c] : 0.0f;
}

static __device__ __forceinline__ void decays_take(const struct pieces_shape *shape, const struct piece *piece,
                                                   const char *stage, int decay, float *decays)
{
    const float *const from = (const float *)(stage + shape->decays_at) + decay;
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        decays[s] = from[s * piece->decays];
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        decays[s] = s < piece->chunks ? decays[s] : 1.0f;
}

/* Waits until at most `most` of the thread's last commits are on their way. (Further ones would have been sent several
   pieces ago.) */
static __device__ __forceinline__ void decays_wait(int most)
{
    __pipeline_wait_prior(most < 4 ? most : 4);
}

/* Four elements of a float32 array (batch, columns), or 0. */
static __device__ __forceinline__ void state_read(const float *array, size_t at, bool inside, float h[4])
{
    if (array != NULL && inside)
        read4<FLOAT32>(array, at, h);
    else
        h[0] = h[1] = h[2] = h[3] = 0.0f;
}

/* ---- split.cu: what a block does next ---- */

/* Where a block is: a piece of its segment in a window, for an item. */
struct walk {
    size_t item;
    unsigned window, piece, end;
};

/* Goes to the next segment of the block that has pieces, from the window that `walk` is in on. */
static __device__ __forceinline__ void walk_settle(struct walk *walk, const struct split_plan *plan, unsigned segment)
{
    while (walk->piece == walk->end && walk->item < plan->shape.items) {
        if (++walk->window == plan->windows)
            walk->window = 0, walk->item += plan->groups;
        walk->piece = split_begin(plan, walk->window, segment);
        walk->end = split_begin(plan, walk->window, segment + 1);
    }
}

/* Asks for the piece where `walk` is, if there is one, and goes on. All threads call it. */
template <int storage>
static __device__ __forceinline__ void walk_send(const void *h_local, const float *gamma, const struct split_plan *plan,
                                                 struct walk *walk, unsigned segment, char *stage, uint64_t *arrived)
{
    const struct pieces_shape *shape = &plan->shape;
    walk_settle(walk, plan, segment);
    if (walk->item < shape->items) {
        const struct piece piece = piece_of(shape, walk->item, (size_t)walk->piece * STEPS, shape->flat.chunks);
        piece_load<storage, 1>(h_local, NULL, shape, &piece, stage, arrived);
        decays_load(gamma, shape, &piece, stage);
        walk->piece++;
    }
    __pipeline_commit();
}

#endif
