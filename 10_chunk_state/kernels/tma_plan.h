/* SPDX-License-Identifier: MIT */
/* tma_plan.h - slices, into which tma.cu, split.cu and their backward kernels cut a row of columns, and how many stages
   fit on the chip (tma_plan.c). A slice of TILE_STEPS chunks is a tile, which one stage of shared memory holds
   (tma_tile.cuh). */
#ifndef TMA_PLAN_H
#define TMA_PLAN_H

#include "../../common/cuda/gpu_info.h"
#include "chunk_check.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TILE_STEPS = 8,              /* chunks of a tile, forward */
    TMA_MAX_THREADS = 512,       /* of a block, each with 16 bytes of the slice, */
    TMA_SPLIT_MAX_THREADS = 256, /* and of a block of split.cu and split_backward.cu */
    TMA_MAX_STAGES = 48,         /* tiles in shared memory at once */
    TMA_COLUMNS_OF = 8,          /* dv is a multiple of it: TMA copies multiples of 16 bytes */
};

/* How a row of columns is cut into slices. */
struct slicing {
    unsigned columns, per_decay; /* of struct flat_state */
    unsigned width, decays;      /* columns of a slice, and decays; the last one may have fewer */
    unsigned slices;             /* of a row */
    unsigned parts;              /* slices of one decay's columns; 1: a slice has whole decays */
};

/* Slices of up to `most` columns. No columns, or too many to be numbered: no slices. */
struct slicing slicing_of(const struct flat_state *flat, unsigned most);

/* How a kernel with stages of tiles is launched. */
struct tma_plan {
    struct flat_state flat;
    struct slicing slicing;
    unsigned items; /* slices of all batches */
    int threads, stages;
    size_t tile_bytes;     /* of a tile of one array */
    size_t stage_bytes;    /* of one of each array */
    size_t decays_bytes;   /* of a tile; behind the stages are slots for one tile more than there are stages */
    size_t own_at, shared; /* behind these what the kernel has for itself; and all */
    unsigned blocks;       /* that the chip holds at the same time */
};

/* What --config says, or these threads and stages, as far as they fit on the chip. `kernel` takes tiles of num_arrays
   arrays, and beside them own_bytes of shared memory for each thread, and for so many more. */
cudaError_t tma_plan_of(const struct chunk_state_args *args, const void *kernel, int threads, int stages, int steps,
                        int num_arrays, size_t own_bytes, int more, struct tma_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
