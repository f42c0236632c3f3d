/* pieces.cuh - how the kernels with the copy engine cut their arrays. A batch's chunk is a row of `columns` elements
   (chunk_state.h). A slice is a few KB of it, the same in every chunk; a piece is a slice of STEPS chunks, one after the
   other, and what one stage of shared memory holds:

                  slice 0   slice 1   slice 2   ...
       chunk 0   |---------|#########|---------|---        # a piece: STEPS copies of a slice's bytes
       chunk 1   |---------|#########|---------|---
       ...
       chunk 8   |---------|---------|---------|---

   Slices end where a decay's columns end: they hold whole ones, or an equal part of one. */
#ifndef PIECES_CUH
#define PIECES_CUH

#include <bulk_copy.h>

#include "kernels.h"
#include "pieces.h"
#include "stored.cuh"

/* A slice of some chunks. */
struct piece {
    size_t row;   /* batch * chunks + its first chunk */
    size_t state; /* of its first column in (batch, columns) */
    unsigned start;
    int columns, chunks;
};

/* The piece of item (batch, slice) that begins with chunk `first` and ends before `end`, or STEPS chunks later. */
static __device__ __forceinline__ struct piece piece_of(const struct flat *flat, const struct cut *cut, size_t item,
                                                        size_t first, size_t end)
{
    const size_t batch = item / cut->slices;
    const unsigned slice = (unsigned)(item % cut->slices), part = slice % cut->parts;
    const unsigned left = cut->parts == 1 ? cut->columns : cut->per_decay;
    struct piece piece;
    piece.start = slice / cut->parts * cut->unit + part * cut->width;
    piece.columns = (int)min(cut->width, left - (cut->parts == 1 ? piece.start : part * cut->width));
    piece.chunks = first < end ? (int)min(end - first, (size_t)STEPS) : 0;
    piece.row = batch * flat->chunks + first;
    piece.state = batch * flat->columns + piece.start;
    return piece;
}

/* Asks the copy engine for a piece of an array. One thread calls it. */
template <int storage>
static __device__ __forceinline__ void piece_load(const void *array, const struct flat *flat, const struct cut *cut,
                                                  const struct piece *piece, char *stage, uint64_t *arrived)
{
    const unsigned bytes = piece->columns * (unsigned)stored_bytes(storage);
    const char *from = (const char *)array + (piece->row * flat->columns + piece->start) * stored_bytes(storage);
    for (int s = 0; s < piece->chunks; s++, from += flat->columns * stored_bytes(storage))
        bulk_load(stage + s * cut->width * stored_bytes(storage), from, bytes, arrived);
}

/* The decays of the thread's columns `own` ... in the chunks of a piece; 1 past its last. */
static __device__ __forceinline__ void piece_decays(const float *gamma, const struct flat *flat, const struct cut *cut,
                                                    const struct piece *piece, int own, float g[STEPS])
{
    const size_t at = piece->row * flat->decays + (piece->start + own) / cut->per_decay;
#pragma unroll
    for (int s = 0; s < STEPS; s++)
        g[s] = s < piece->chunks && own < piece->columns ? __ldg(gamma + at + s * flat->decays) : 1.0f;
}

/* Four elements of a float32 array (batch, columns), or 0. */
static __device__ __forceinline__ void state_read(const float *array, size_t at, bool inside, float h[4])
{
    if (array != NULL && inside)
        read4<FLOAT32>(array, at, h);
    else
        h[0] = h[1] = h[2] = h[3] = 0.0f;
}

#endif
