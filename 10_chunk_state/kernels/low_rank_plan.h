/* SPDX-License-Identifier: MIT */
/* low_rank_plan.h - the launches of low_rank.cu, low_rank_backward.cu, mma.cu, wgmma.cu and plain.cu, and how large the
   parts of their stages are (low_rank_plan.c). */
#ifndef LOW_RANK_PLAN_H
#define LOW_RANK_PLAN_H

#include "../../common/cuda/gpu_info.h"
#include "../operation/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLOCK_COLUMNS = 32,            /* of the state, that a block has */
    X_STRIDE = BLOCK_COLUMNS + 8,  /* elements from row to row of h_local in a stage: other rows, other banks */
    ROW_LANES = 8,                 /* low_rank.cu: lanes that share the rows of a column, */
    COLUMN_LANES = 32 / ROW_LANES, /* and lanes of a warp side by side, with two columns each */
    LOW_RANK_CONSUMERS = BLOCK_COLUMNS / 2 * ROW_LANES, /* threads that compute, */
    LOW_RANK_PRODUCERS = 192,                           /* and that copy */
    LOW_RANK_THREADS = LOW_RANK_CONSUMERS + LOW_RANK_PRODUCERS,
    LOW_RANK_MAX_STAGES = 8,
    MMA_THREADS = 2 * LOW_RANK_CONSUMERS,   /* of mma.cu and wgmma.cu: half of them compute, half copy */
    MMA_MAX_ROWS = 128,                     /* dk: with more, registers would not do */
    SUM_COLUMNS = 64,                       /* mma_backward.cu: of the state, that a block has at a time, */
    SUM_PADDING = 8,                        /* elements between rows in shared memory, */
    SUM_STRIDE = SUM_COLUMNS + SUM_PADDING, /* elements from row to row of what has these columns in shared memory, */
    SUM_ROWS = 64,                          /* rows that its warps have at a time, */
    SUM_THREADS = 256,                      /* and its threads */
};

/* The same of a state in a stage of low_rank_backward.cu: with 256 rows in float32 as few as bring no conflicts to
   lanes with four columns, so that rank 64 fits. */
#define BACK_STRIDE(dtype, rows) ((dtype) == FLOAT32 && (rows) == CHUNK_STATE_MAX_ROWS ? BLOCK_COLUMNS + 4 : X_STRIDE)

/* How a launch is cut, and what lies where in a stage. Rows and ranks are filled up with zeros. */
struct low_rank_plan {
    size_t chunks, heads, dv;
    int dk, rank, decays, slices;
    int stages;             /* as many as --config says, or fit; 0: not even one */
    int padded;             /* the rank, filled up to a multiple of 4 */
    int stride;             /* elements from row to row of W and Y: an odd multiple of 16 bytes, so that eight rows that
                           are read at the same time have no bank in common */
    int x_vector, w_vector; /* bytes that are copied at once: the vector width */
    bool full;              /* copies fill all that low_rank.cu reads of a stage */
    int raw_vector; /* cp.async takes no vectors of 2 bytes: W and Y come as they are, and are spread to rows then */
    unsigned x_bytes, w_bytes, gamma_bytes, stage_bytes;
    unsigned raw_bytes; /* of W as it comes; 0: it comes in rows */
    size_t limit;       /* bytes of shared memory in all */
    unsigned blocks;
    const int *starts; /* of packed sequences, or NULL */
};

/* For stages of so many rows. gpu, here and below: where it will run; NULL: the current one. */
cudaError_t low_rank_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu, size_t rows,
                             struct low_rank_plan *plan);

/* Rows, up to MMA_MAX_ROWS, and ranks of the kernels on tensor cores: filled up with zeros to one of these numbers. */
static inline size_t mma_rows(const struct chunk_state_args *args)
{
    return args->dk <= MMA_MAX_ROWS / 2 ? MMA_MAX_ROWS / 2 : MMA_MAX_ROWS;
}
static inline size_t mma_ranks(const struct chunk_state_args *args)
{
    return args->rank <= 16 ? 16 : args->rank <= 32 ? 32 : 64;
}

/* The same for mma.cu, which has 64 or 128 rows and 16, 32 or 64 ranks, and room for the sums that its warps tell each
   other. cudaErrorNotSupported: the chip has no shared memory for two stages of it. */
#define MMA_PARTS_BYTES(ranks) ((size_t)(ranks)*4 * BLOCK_COLUMNS * sizeof(float))
cudaError_t mma_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu, struct low_rank_plan *plan);

/* The same for wgmma.cu, which has 64 or 128 rows, and W and Y in rows of 128 bytes. */
cudaError_t wgmma_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu, struct low_rank_plan *plan);

/* The third launch of mma_backward.cu: a block has the chunk of a head. In its shared memory lie h, d_h, W, Y and the
   products of these, P and Q; d, w and so on are where they begin. */
struct mma_sums_plan {
    size_t dv;
    int dk, rank, decays, slices;
    int rows, padded;                 /* 64 or 128, and 16, 32 or 64 */
    int x_vector, d_vector, w_vector; /* bytes that are copied at once; d_vector: of d_h in float32 */
    bool full;                        /* copies fill all of it */
    unsigned d, w, y, p, q, bytes;
    unsigned chunks; /* of all heads */
};

/* cudaErrorNotSupported: the chip has no shared memory for a block of it. */
cudaError_t mma_sums_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu,
                             struct mma_sums_plan *plan);

/* The same for low_rank_backward.cu, which has 64, 128 or 256 rows, and one stage or at least three.
   cudaErrorNotSupported: the chip has no shared memory for one. */
cudaError_t low_rank_back_plan_of(const struct chunk_state_args *args, const struct gpu_info *gpu,
                                  struct low_rank_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
