/* kernels.h - chapter 10: the state that a chunkwise layer hands from chunk to chunk (Yang et al., "Gated Linear
   Attention Transformers with Hardware-Efficient Training", 2024; Dao and Gu, "Transformers are SSMs", 2024; Yang,
   Kautz and Hatamizadeh, "Gated Delta Networks", 2025). For each batch b and head a matrix of dk rows and dv columns,

       h[k] = A[k] h[k-1] + h_local[k],     k = 0 ... chunks-1,     h[-1] = initial_state,     where

       A[k] h = gamma[k] h                                a decay for each row, or one for all
       A[k] h = gamma[k] (h - W[k] (Y[k]^T h))            where W and Y are given; they have `rank` columns

   h_out[k] is h[k], the state after chunk k, or if `exclusive` h[k-1], the state before it, from which a layer computes
   chunk k. final_state is h[chunks-1]. What is NULL falls away: no W and Y, no rank; no initial_state begins with 0.

   Backward, with d_h[k] the gradient with respect to h[k] and ' for what is transposed:

       d_h[k]       = A[k+1]' d_h[k+1] + d_h_out[k]       exclusive: + d_h_out[k+1], which is h[k]; d_final_state joins
                                                          the last one; before chunk 0 this is d_initial_state
       d_h_local[k] = d_h[k]
       d_gamma[k]   = sum over columns of d_h[k] (h[k-1] - W[k] (Y[k]^T h[k-1])), over the rows, too, if they share one
       d_W[k]       = -(gamma[k] d_h[k]) (Y[k]^T h[k-1])'
       d_Y[k]       = -h[k-1] (W[k]^T (gamma[k] d_h[k]))'                                                           */
#ifndef CHUNK_STATE_H
#define CHUNK_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../../common/cuda/gpu_info.h"
#include "../../common/harness/kernel_info.h"
#include "../../common/base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of every launcher. Arrays are row-major and packed, bases aligned to 16 bytes, and do not overlap.
   "stored" arrays have the type `dtype`, all others are float32; states are computed in float32. */
struct chunk_state_args {
    size_t batch, chunks, heads, dk, dv;
    size_t rank;   /* up to CHUNK_STATE_MAX_RANK; 0 if W and Y are NULL */
    size_t decays; /* of a head: dk, one for each row, or 1 */
    enum dtype dtype;
    bool exclusive;
    struct launch_config config; /* what --config gave (launch_config.h) */

    const void *h_local;        /* stored (batch, chunks, heads, dk, dv) */
    const float *gamma;         /* (batch, chunks, heads, decays) */
    const void *W, *Y;          /* stored (batch, chunks, heads, dk, rank), or both NULL */
    const float *initial_state; /* (batch, heads, dk, dv), or NULL */

    void *h_out;        /* stored, as h_local; forward writes */
    float *final_state; /* (batch, heads, dk, dv), or NULL; forward writes */

    /* backward: reads everything that forward reads, and */
    const void *states;         /* stored, as h_local: the states before each chunk, which forward writes if it is
                                   exclusive. NULL: the launcher runs forward for them, and needs workspace */
    const void *d_h_out;        /* stored, as h_local */
    const float *d_final_state; /* (batch, heads, dk, dv), or NULL: 0 */
    /* writes. With states it does not read h_local and initial_state */
    void *d_h_local;        /* stored, as h_local */
    float *d_gamma;         /* as gamma */
    void *d_W, *d_Y;        /* stored, as W; NULL where W is */
    float *d_initial_state; /* (batch, heads, dk, dv), or NULL */

    void
        *workspace; /* scratch memory, for kernels that ask for it: all its bits are set before the first launch, and */
    size_t workspace_size; /* every later one finds what the one before has left */
};

/* Launches on `stream` and returns the launch's error, cudaErrorInvalidValue for arguments that it cannot take, or
   cudaErrorNotSupported where the chip lacks what it needs. It allocates nothing and does not wait. Where there is no
   batch, head, row or column, nothing happens, but that sums over no columns are 0; where there is no chunk,
   final_state is the initial state, and d_initial_state is d_final_state. */
typedef cudaError_t chunk_state_launcher(const struct chunk_state_args *args, cudaStream_t stream);

/* A row of the chapter's table. The table ends with a row whose info.name is NULL. */
struct chunk_state_kernel {
    struct kernel_info info;
    chunk_state_launcher *forward, *backward; /* NULL: not offered */
    size_t max_rank;                          /* 0: diagonal A only */
    size_t max_rows;                          /* dk; 0: any, or CHUNK_STATE_MAX_ROWS if there is a rank */
    size_t columns_of;                        /* dv is a multiple of it; 0: any */
    size_t (*workspace_size)(const struct chunk_state_args *args, bool backward); /* bytes; NULL: none */
    bool (*tensor_cores)(const struct chunk_state_args *args); /* whether forward sums there; NULL: never */
};

enum {
    CHUNK_STATE_MAX_RANK = 64,
    CHUNK_STATE_MAX_ROWS = 256, /* dk, where there is a rank */
};

/* ---- the diagonal: element for element, so that a batch's chunk is one row of `columns` elements, in which
   `per_decay` neighbours share a decay ---- */

struct flat {
    size_t batch, chunks;
    size_t columns;   /* heads * dk * dv */
    size_t decays;    /* heads * decays */
    size_t per_decay; /* columns / decays */
};
struct flat flat_of(const struct chunk_state_args *args);

/* What every launcher begins with. Checks the arguments: sizes whose bytes overflow, missing pointers, bases, rank and
   decays. Where there is nothing to compute it does what is left to do. *done: the launcher returns what this
   returns. */
cudaError_t chunk_state_begin(const struct chunk_state_args *args, bool backward, size_t max_rank, cudaStream_t stream,
                              bool *done);

/* ---- the launchers, in the order of the text ---- */

chunk_state_launcher chunk_state_copy;     /* h_local to h_out, nothing else: what the others are compared with */
chunk_state_launcher chunk_state_launches; /* one launch for each chunk */
chunk_state_launcher chunk_state_reread;   /* one launch; the state comes from memory in each step */
chunk_state_launcher chunk_state_registers, chunk_state_registers_backward; /* the state stays in a register */
chunk_state_launcher chunk_state_prefetch; /* four columns a thread, the next chunks on their way */
chunk_state_launcher chunk_state_tma, chunk_state_tma_backward; /* the copy engine brings them (sm_90) */
chunk_state_launcher chunk_state_split;                         /* a head's chunks spread over blocks (sm_90) */
chunk_state_launcher chunk_state_low_rank, chunk_state_low_rank_backward;
chunk_state_launcher chunk_state_mma;   /* products on the tensor cores (sm_80) */
chunk_state_launcher chunk_state_wgmma; /* what mma launches in bf16 on sm_90 */

/* One of these, by shape and chip. */
chunk_state_launcher chunk_state_forward, chunk_state_backward;

/* Whether mma, or default, computes these on tensor cores. */
bool chunk_state_mma_tensor_cores(const struct chunk_state_args *args);
bool chunk_state_default_tensor_cores(const struct chunk_state_args *args);

/* Bytes of workspace. */
size_t chunk_state_registers_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_tma_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_low_rank_workspace(const struct chunk_state_args *args, bool backward);
size_t chunk_state_default_workspace(const struct chunk_state_args *args, bool backward);

extern const struct chunk_state_kernel chapter10_kernels[];

/* ---- slices and pieces (pieces.cuh), and what fits on the chip (pieces.c) ---- */

enum {
    STEPS = 8,                /* chunks of a piece, forward */
    PIECES_MAX_THREADS = 512, /* of a block, each with 16 bytes of the slice */
    PIECES_MAX_STAGES = 48,   /* pieces in shared memory at once */
    PIECES_COLUMNS_OF = 8,    /* dv is a multiple of it: the copy engine takes multiples of 16 bytes */
};

/* How a row of columns is cut into slices. */
struct cut {
    unsigned columns, per_decay; /* of struct flat */
    unsigned width, decays;      /* columns of a slice, and decays; the last one may have fewer */
    unsigned slices;             /* of a row */
    unsigned parts;              /* slices of one decay's columns; 1: a slice has whole decays */
};

/* Slices of up to `most` columns. No columns, or too many to be numbered: no slices. */
struct cut cut_of(const struct flat *flat, unsigned most);

/* How a kernel with stages of pieces runs. */
struct pieces_shape {
    struct flat flat;
    struct cut cut;
    unsigned items; /* slices of all batches */
    int threads, stages;
    size_t piece_bytes;    /* of a piece of one array */
    size_t stage_bytes;    /* of one of each array */
    size_t decays_bytes;   /* of a piece; behind the stages are places for one piece more than there are stages */
    size_t own_at, shared; /* behind these what the kernel has for itself; and all */
    unsigned blocks;       /* that the chip holds at the same time */
};

/* What --config says, or these threads and stages, as far as they fit on the chip. `kernel` takes pieces of num_arrays
   arrays, and beside them own_bytes of shared memory for each thread, and for so many more. */
cudaError_t pieces_shape(const struct chunk_state_args *args, const void *kernel, int threads, int stages, int steps,
                         int num_arrays, size_t own_bytes, int more, struct pieces_shape *shape);

/* ---- how split.cu spreads chunks over blocks (split_plan.c) ---- */

enum { SPLIT_MAX_SEGMENTS = 8, SPLIT_MAX_THREADS = 256 };

/* Windows of segments, each a block of a cluster. */
struct split_plan {
    struct pieces_shape shape;
    unsigned segments, windows;
    unsigned each; /* pieces of a segment in a window */
};

cudaError_t split_plan(const struct chunk_state_args *args, const void *kernel, struct split_plan *plan);

/* ---- what the backward kernels need of the workspace: the states, if the caller has not kept them, and the parts of
   d_gamma, if a decay has more columns than a block takes (backward_space.cu) ---- */

struct backward_space {
    const void *states; /* before each chunk, stored */
    float *d_gamma;     /* `parts` sums for each decay: args->d_gamma itself, if there is one */
    size_t parts;
};

/* Bytes of workspace. */
size_t backward_workspace(const struct chunk_state_args *args, size_t parts);

/* Fills in *space; where args->states is NULL it launches `forward` for them. */
cudaError_t backward_space(const struct chunk_state_args *args, size_t parts, chunk_state_launcher *forward,
                           cudaStream_t stream, struct backward_space *space);

/* Launches what adds up the parts, in their order, into args->d_gamma. */
cudaError_t backward_add_parts(const struct chunk_state_args *args, const struct backward_space *space,
                               cudaStream_t stream);

/* ---- the shapes of low_rank.cu and low_rank_backward.cu (low_rank_shape.c) ---- */

enum {
    COLUMNS = 32,           /* of the state, that a block has */
    X_STRIDE = COLUMNS + 8, /* elements from row to row of h_local in a stage: other rows, other banks */
    PARTS = 8,              /* low_rank.cu: lanes that share the rows of a column, */
    SIDE = 32 / PARTS,      /* and lanes of a warp side by side, with two columns each */
    LOW_RANK_THREADS = COLUMNS / 2 * PARTS, /* of a block of low_rank.cu that compute, */
    LOW_RANK_COPYING = 192,                 /* and that copy */
    LOW_RANK_MAX_STAGES = 8,
    MMA_MAX_ROWS = 128, /* dk that mma.cu takes: with more, registers would not do */
};

/* The same of a state in a stage of low_rank_backward.cu: with 256 rows in float32 as few as bring no conflicts to
   lanes with four columns, so that rank 64 fits. */
#define BACK_STRIDE(dtype, rows) ((dtype) == FLOAT32 && (rows) == CHUNK_STATE_MAX_ROWS ? COLUMNS + 4 : X_STRIDE)

/* How a launch is cut, and what lies where in a stage. Rows and ranks are filled up with zeros. */
struct low_rank_shape {
    size_t chunks, heads, dv;
    int dk, rank, decays, slices;
    int stages;         /* as many as --config says, or fit; 0: not even one */
    int padded;         /* the rank, filled up to a multiple of 4 */
    int stride;         /* elements from row to row of W and Y: an odd multiple of 16 bytes, so that eight rows that
                           are read at the same time have no bank in common */
    int x_unit, w_unit; /* bytes that are copied at once */
    bool full;          /* copies fill all that low_rank.cu reads of a stage */
    int raw_unit;       /* cp.async takes no rows of 2 bytes: W and Y come as they are, and then are spread to rows */
    unsigned x_bytes, w_bytes, gamma_bytes, stage_bytes;
    unsigned raw_bytes; /* of W as it comes; 0: it comes in rows */
    size_t limit;       /* bytes of shared memory in all */
    unsigned blocks;
};

/* For stages of so many rows. */
cudaError_t low_rank_shape_of(const struct chunk_state_args *args, size_t rows, struct low_rank_shape *shape);

/* The same for mma.cu, which has 64 or 128 rows and 16, 32 or 64 ranks, and room for the sums that its warps tell each
   other. cudaErrorNotSupported: the chip has no shared memory for two stages of it. */
#define MMA_PARTS_BYTES(ranks) ((size_t)(ranks)*4 * COLUMNS * sizeof(float))
cudaError_t mma_shape_of(const struct chunk_state_args *args, struct low_rank_shape *shape);

/* The same for wgmma.cu, which has 64 or 128 rows, and W and Y in rows of 128 bytes. */
cudaError_t wgmma_shape_of(const struct chunk_state_args *args, struct low_rank_shape *shape);

/* Whether mma launches wgmma.cu: W and Y are bf16, in rows of whole 16 bytes, and the chip is sm_90. With smaller
   ranks it is not faster, at the proposal's shape on an H200 (wgmma.md). */
enum { WGMMA_MIN_RANK = 24 };
bool is_for_wgmma(const struct chunk_state_args *args);

/* The same for low_rank_backward.cu, which has 64, 128 or 256 rows, and one stage or at least three.
   cudaErrorNotSupported: the chip has no shared memory for one. */
cudaError_t low_rank_back_shape_of(const struct chunk_state_args *args, struct low_rank_shape *shape);

/* Where the parts of the sums lie: of each slice d_W, d_Y and then d_gamma. */
struct part_counts {
    size_t decays, ranks; /* elements of gamma, and of W */
    size_t all;           /* of a slice, filled up to a multiple of 4 */
};
struct part_counts low_rank_counts(const struct chunk_state_args *args);

/* Bytes of the parts in the workspace. */
size_t low_rank_parts_bytes(const struct chunk_state_args *args);

/* Launches what adds up the slices' parts into args->d_gamma, d_W and d_Y (low_rank_sums.cu). */
cudaError_t low_rank_add_slices(const struct chunk_state_args *args, const float *parts, int slices,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
