/* SPDX-License-Identifier: MIT */
/* tma_slice.cuh - the part of a state that a block of tma.cu, tma_backward.cu, split.cu or split_backward.cu has. A
   batch's chunk is a row of `columns` elements (chunk_check.h). A slice is a few KB of it, the same in every chunk, of
   which each thread has 16 bytes. Slices end where a decay's columns end: they hold whole ones, or an equal part of
   one. */
#ifndef TMA_SLICE_CUH
#define TMA_SLICE_CUH

#include "backward_space.h"
#include "load_store.cuh"
#include "tma_plan.h"

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
    unsigned copied;              /* asks for this chunk of a tile, if there is one */
    unsigned asked, from, apart;  /* asks for this decay, in chunks from, from + apart, ... */
};

/* Divisions by what the compiler does not know take long, and the first copies wait for them: so they are few. */
template <int dtype, int steps>
static __device__ __forceinline__ struct slice slice_of(const struct tma_plan *plan, unsigned item)
{
    const struct slicing *const slicing = &plan->slicing;
    const unsigned batch = item / slicing->slices, number = item - batch * slicing->slices;
    const unsigned threads_a_copy = blockDim.x / steps; /* so that as many warps ask as there are */
    struct slice slice;
    slice.first_decay = slicing->parts == 1 ? number * slicing->decays : number / slicing->parts;
    slice.part = slicing->parts == 1 ? 0 : number - slice.first_decay * slicing->parts;
    slice.start = slice.first_decay * slicing->per_decay + slice.part * slicing->width;
    slice.columns = min(slicing->width, slicing->parts == 1 ? slicing->columns - slice.start
                                                            : slicing->per_decay - slice.part * slicing->width);
    slice.decays = min(slicing->decays, (unsigned)plan->flat.decays - slice.first_decay);
    slice.row = batch * plan->flat.chunks;
    slice.state = batch * plan->flat.columns + slice.start;
    slice.inside = threadIdx.x * OWN(dtype) < slice.columns;
    slice.own = slice.inside ? threadIdx.x * OWN(dtype) : 0;
    slice.own_decay = slicing->parts == 1 ? slice.own / slicing->per_decay : 0;
    slice.copied = threadIdx.x % threads_a_copy == 0 ? threadIdx.x / threads_a_copy : (unsigned)steps;
    slice.from = threadIdx.x / slicing->decays;
    slice.asked = threadIdx.x - slice.from * slicing->decays;
    slice.apart = blockDim.x / slicing->decays;
    if (slice.asked >= slice.decays || slice.from >= slice.apart)
        slice.from = steps; /* for none */
    return slice;
}

/* Where chunk `chunk` of the slice begins in an array. */
template <int dtype>
static __device__ __forceinline__ size_t slice_at(const struct tma_plan *plan, const struct slice *slice, size_t chunk)
{
    return ((slice->row + chunk) * plan->flat.columns + slice->start) * element_bytes(dtype);
}

/* Where the states before the stretch that begins with chunk `first` are (backward_space.h), as (batch, columns). NULL:
   there is none behind the first stretch, or nobody asks for them. */
template <int dtype>
static __device__ __forceinline__ float *checkpoint_at(float *checkpoints, const struct tma_plan *plan, size_t first)
{
    static_assert(STRETCH(dtype) == 1 || STRETCH(dtype) == TILE_STEPS, "forward has a tile for each stretch");
    if (checkpoints == NULL || first == 0 || first >= plan->flat.chunks)
        return NULL;
    return checkpoints + (first / STRETCH(dtype) - 1) * plan->flat.batch * plan->flat.columns;
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

/* The state before a stretch, from which its states are to be computed again. */
template <int dtype>
static __device__ __forceinline__ void before_read(const float *initial_state, float *checkpoints,
                                                   const struct tma_plan *plan, const struct slice *slice, size_t first,
                                                   float *before)
{
    if (STRETCH(dtype) > 1)
        state_read<dtype>(first == 0 ? initial_state : checkpoint_at<dtype>(checkpoints, plan, first), slice, before);
}

/* The states before each chunk of a tile, which is a stretch: as they have come, or computed again from the state
   before the tile and the h_local that has come. */
template <int dtype, int steps>
static __device__ __forceinline__ void states_of(const uint4 *words, bool again, const float *decays, float *before,
                                                 float h[steps][OWN(dtype)])
{
    static_assert(STRETCH(dtype) == 1 || steps == STRETCH(dtype), "a tile is a stretch");
#pragma unroll
    for (int s = 0; s < steps; s++) {
        unpack16<dtype>(words[s], h[s]);
        if (!again)
            continue;
#pragma unroll
        for (int c = 0; c < OWN(dtype); c++) {
            const float local = h[s][c];
            h[s][c] = before[c];
            before[c] = decays[s] * before[c] + local;
        }
    }
}

#endif
