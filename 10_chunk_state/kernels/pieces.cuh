/* pieces.cuh - how the kernels with the copy engine cut their arrays. A batch's chunk is a row of `columns` elements
   (kernels.h). A slice is a few KB of it, the same in every chunk, of which each thread has 16 bytes; a piece is a
   slice of `steps` chunks, one after the other, and what one stage of shared memory holds:

                  slice 0   slice 1   slice 2   ...
       chunk 0   |---------|#########|---------|---        # a piece: `steps` copies of a slice's bytes
       chunk 1   |---------|#########|---------|---
       ...
       chunk 8   |---------|---------|---------|---

   Slices end where a decay's columns end: they hold whole ones, or an equal part of one. A piece's decays come with it,
   behind the stages: a few bytes at any multiple of four, which the copy engine does not take, so cp.async does. */
#ifndef PIECES_CUH
#define PIECES_CUH

#include "../../common/cuda/tma.h"
#include <cuda_pipeline.h>

#include "kernels.h"
#include "stored.cuh"

/* Elements of a row that a thread has. */
#define OWN(dtype) ((dtype) == FLOAT32 ? 4 : 8)

/* The slice of a block, and what the thread has to do for it. */
struct slice {
    unsigned start, columns;      /* its first column, and how many */
    unsigned first_decay, decays; /* which of the row's, and how many */
    unsigned part;                /* which part of that decay's columns it has, if there are parts */
    size_t row;                   /* its first chunk, counted through all batches */
    size_t state;                 /* of its first column in (batch, columns) */
    bool inside;                  /* the thread has columns of it, */
    unsigned own, own_decay;      /* these, counted from its start, with this decay */
    unsigned copied;              /* asks for this chunk of a piece, if there is one */
    unsigned asked, from, apart;  /* asks for this decay, in chunks from, from + apart, ... */
};

/* Divisions by what the compiler does not know take long, and the first copies wait for them: so they are few. */
template <int dtype, int steps>
static __device__ __forceinline__ struct slice slice_of(const struct pieces_shape *shape, unsigned item)
{
    const struct cut *const cut = &shape->cut;
    const unsigned batch = item / cut->slices, number = item - batch * cut->slices;
    const unsigned threads_a_copy = blockDim.x / steps; /* so that as many warps ask as there are */
    struct slice slice;
    slice.first_decay = cut->parts == 1 ? number * cut->decays : number / cut->parts;
    slice.part = cut->parts == 1 ? 0 : number - slice.first_decay * cut->parts;
    slice.start = slice.first_decay * cut->per_decay + slice.part * cut->width;
    slice.columns =
        min(cut->width, cut->parts == 1 ? cut->columns - slice.start : cut->per_decay - slice.part * cut->width);
    slice.decays = min(cut->decays, (unsigned)shape->flat.decays - slice.first_decay);
    slice.row = batch * shape->flat.chunks;
    slice.state = batch * shape->flat.columns + slice.start;
    slice.inside = threadIdx.x * OWN(dtype) < slice.columns;
    slice.own = slice.inside ? threadIdx.x * OWN(dtype) : 0;
    slice.own_decay = cut->parts == 1 ? slice.own / cut->per_decay : 0;
    slice.copied = threadIdx.x % threads_a_copy == 0 ? threadIdx.x / threads_a_copy : (unsigned)steps;
    slice.from = threadIdx.x / cut->decays;
    slice.asked = threadIdx.x - slice.from * cut->decays;
    slice.apart = blockDim.x / cut->decays;
    if (slice.asked >= slice.decays || slice.from >= slice.apart)
        slice.from = steps; /* for none */
    return slice;
}

/* Where chunk `chunk` of the slice begins in an array. */
template <int dtype>
static __device__ __forceinline__ size_t slice_at(const struct pieces_shape *shape, const struct slice *slice,
                                                  size_t chunk)
{
    return ((slice->row + chunk) * shape->flat.columns + slice->start) * stored_bytes(dtype);
}

/* Chunks of the piece that begins with chunk `first`. */
template <int steps>
static __device__ __forceinline__ unsigned piece_chunks(const struct pieces_shape *shape, size_t first)
{
    const size_t chunks = shape->flat.chunks;
    return first >= chunks ? 0 : (unsigned)min(chunks - first, (size_t)steps);
}

/* A piece's copies are asked for by `steps` threads, spread over as many warps as there are: with one thread for all of
   them a launch of an earlier version took 88 us in place of 79 (single runs on an H200). Why one is slower was not
   measured. The barrier of a stage waits for these threads. */
static __device__ __forceinline__ void barriers_init(uint64_t *arrived, int stages, int steps)
{
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; s++)
            mbarrier_init(&arrived[s], steps);
        mbarrier_init_done();
    }
    __syncthreads(); /* the barriers are there for all */
}

/* Place n for a piece's decays, behind the stages, of which there is one more than there are stages. */
static __device__ __forceinline__ float *decays_place(const struct pieces_shape *shape, char *stages, int n)
{
    return (float *)(stages + shape->stages * shape->stage_bytes + n * shape->decays_bytes);
}

/* Asks the copy engine for a piece of num_arrays arrays, one or two, and for its decays, if there is such a piece. All
   threads call it; each waits for its own decays, and a barrier shows them to the others. */
template <int dtype, int steps, int num_arrays>
static __device__ __forceinline__ void piece_send(const void *array, const void *second, const float *gamma,
                                                  const struct pieces_shape *shape, const struct slice *slice,
                                                  size_t first, char *stage, float *decays, uint64_t *arrived)
{
    const unsigned chunks = piece_chunks<steps>(shape, first), bytes = slice->columns * (unsigned)stored_bytes(dtype);
    if (chunks != 0 && slice->copied < steps) {
        if (slice->copied < chunks) {
            const size_t at = slice_at<dtype>(shape, slice, first + slice->copied);
            char *const to = stage + slice->copied * shape->cut.width * (unsigned)stored_bytes(dtype);
            mbarrier_expect(arrived, num_arrays * bytes);
            tma_load(to, (const char *)array + at, bytes, arrived);
            if (num_arrays == 2)
                tma_load(to + shape->piece_bytes, (const char *)second + at, bytes, arrived);
        } else {
            mbarrier_arrive(arrived);
        }
    }
    for (unsigned s = slice->from; s < chunks; s += slice->apart)
        __pipeline_memcpy_async(
            decays + slice->asked * steps + s,
            gamma + (slice->row + first + s) * shape->flat.decays + slice->first_decay + slice->asked, 4);
    __pipeline_commit();
}

/* Take the thread's 16 bytes of each chunk of a piece from its stage, and their decays. There are no branches around
   the loads, so all of them are on their way at once; what stands behind the piece's last chunk is not used. */
template <int dtype, int steps>
static __device__ __forceinline__ void piece_take(const struct pieces_shape *shape, const struct slice *slice,
                                                  const char *stage, uint4 *x)
{
    const unsigned words = shape->cut.width / OWN(dtype);
#pragma unroll
    for (int s = 0; s < steps; s++)
        x[s] = ((const uint4 *)stage)[s * words + slice->own / OWN(dtype)];
}

template <int steps>
static __device__ __forceinline__ void decays_take(const struct slice *slice, const float *from, float *decays)
{
#pragma unroll
    for (int s = 0; s < steps; s += 4) {
        const float4 four = *(const float4 *)(from + slice->own_decay * steps + s);
        decays[s] = four.x, decays[s + 1] = four.y, decays[s + 2] = four.z, decays[s + 3] = four.w;
    }
}

/* Waits until at most `most` of the thread's last commits are on their way. (Further ones would have been sent several
   pieces ago.) */
static __device__ __forceinline__ void decays_wait(int most)
{
    __pipeline_wait_prior(most < 4 ? most : 4);
}

/* The thread's elements of a float32 array (batch, columns), or 0. */
template <int dtype>
static __device__ __forceinline__ void state_read(const float *array, const struct slice *slice, float *h)
{
#pragma unroll
    for (int c = 0; c < OWN(dtype); c += 4)
        if (array != NULL && slice->inside)
            read4<FLOAT32>(array, slice->state + slice->own + c, h + c);
        else
            h[c] = h[c + 1] = h[c + 2] = h[c + 3] = 0.0f;
}

template <int dtype>
static __device__ __forceinline__ void state_write(float *array, const struct slice *slice, const float *h)
{
    if (array != NULL && slice->inside)
#pragma unroll
        for (int c = 0; c < OWN(dtype); c += 4)
            write4<FLOAT32>(array, slice->state + slice->own + c, h + c);
}

/* The state after a chunk. */
template <int dtype>
static __device__ __forceinline__ void state_step(uint4 words, float decay, float *h)
{
    float local[OWN(dtype)];
    unpack16<dtype>(words, local);
#pragma unroll
    for (int c = 0; c < OWN(dtype); c++)
        h[c] = decay * h[c] + local[c];
}

/* ---- split.cu ---- */

/* Where a block is: a piece of its segment in some window. */
struct place {
    size_t first;  /* chunk of the piece */
    unsigned left; /* pieces from here to the segment's end */
    int stage, parity;
};

/* Goes to the block's next piece, which may be in the next window, and past the last chunk. */
static __device__ __forceinline__ void place_next(struct place *place, const struct split_plan *plan)
{
    place->first += STEPS;
    if (--place->left == 0)
        place->left = plan->each, place->first += (size_t)(plan->segments - 1) * plan->each * STEPS;
    if (++place->stage == plan->shape.stages)
        place->stage = 0, place->parity ^= 1;
}

#endif
