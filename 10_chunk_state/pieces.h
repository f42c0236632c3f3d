/* pieces.h - slices and pieces (pieces.cuh), and what fits on the chip. */
#ifndef PIECES_H
#define PIECES_H

#include "chunk_state.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    STEPS = 8,                /* chunks of a piece */
    PIECES_MAX_THREADS = 512, /* of a block, each with four columns of the slice */
    PIECES_MAX_STAGES = 48,   /* pieces in shared memory at once */
    PIECES_COLUMNS_OF = 8,    /* dv is a multiple of it: the copy engine takes multiples of 16 bytes */
};

/* How a row of columns is cut into slices. */
struct cut {
    unsigned columns, per_decay; /* of struct flat */
    unsigned width;              /* columns of a slice, the last one may have fewer */
    unsigned slices;             /* of a row */
    unsigned parts;              /* slices of one decay's columns; 1: a slice has whole decays */
    unsigned unit;               /* columns from the first slice of a decay to the first of the next, or width */
};

/* Slices of up to `most` columns. Too many columns to be numbered: no slices. */
struct cut cut_of(const struct flat *flat, unsigned most);

/* How a kernel with stages of pieces runs. */
struct pieces_shape {
    struct flat flat;
    struct cut cut;
    unsigned items; /* slices of all batches */
    int threads, stages;
    size_t piece_bytes; /* of a piece of one array */
    size_t decays_at;   /* where the decays begin in a stage, behind its pieces */
    size_t stage_bytes, shared;
    unsigned blocks; /* that the chip holds at the same time */
};

/* The threads (or what --config says) and, if `stages` is 0 and --config says nothing, as many stages as fit. `kernel`
   takes pieces of num_arrays arrays, and own_bytes of shared memory beside them for each thread. */
cudaError_t pieces_shape(const struct chunk_state_args *args, const void *kernel, int threads, int stages,
                         int num_arrays, size_t own_bytes, struct pieces_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
